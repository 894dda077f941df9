@_exported public import SluicePostgres
