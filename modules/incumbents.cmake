# Other people's libraries.
