// The plugin makes the types of this module from the plan files beside this one; a target needs a Swift file of its own.
