@_exported public import SluiceKafka
