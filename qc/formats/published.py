"""What the two published formats of Ji et al. (ACL 2022) fix, for those who read and those who write them."""

# The instrument in the order of the seven numbers of an MTurk `scoreN`: label, negative, counts for qc.
INSTRUMENT = (
    ("robotic", True, False),
    ("interesting", False, True),
    ("fun", False, True),
    ("consistent", False, True),
    ("fluent", False, True),
    ("repetitive", True, False),
    ("topic", False, True),
)
MAXIMUM = 100.0

PERSONA_SUFFIX = "_p"  # of a system that speaks with a persona; the rest of its name is its family
QC_TASK = "qc"
LAST_PERSONA_SEED = 500  # MTurk seeds up to this one spoke with a persona
NO_FEEDBACK = "None"

# How hits_data.json writes the kinds of topic change.
ACTIONS = {
    "bot change": "The chatbot changed the topic.",
    "user change last": "The user changed the topic the last input.",
    "user change next": "The user will change the topic in the next input.",
    "user wants bot change": "The user wants the bot to change the topic.",
    "no change": "No topic change.",
}
