"""What workers rate where they do not chat: where it comes from, and its distorted twins."""
