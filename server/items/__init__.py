"""Items that workers rate instead of chatting, and their distorted twins."""
