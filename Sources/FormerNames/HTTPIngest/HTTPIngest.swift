@_exported public import SluiceHTTP
