@_exported public import SluiceTesting
