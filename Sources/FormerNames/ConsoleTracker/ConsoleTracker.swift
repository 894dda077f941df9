@_exported public import SluiceConsole
