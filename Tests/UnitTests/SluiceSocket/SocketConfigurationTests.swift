import EventValidation
import Logging
import SluiceSocket
import SluiceTesting
import Testing
import TrackerKit

@Suite("The configuration of a receiver")
struct SocketConfigurationTests {
    @Test(
        "has a host, a port, and whether TLS is spoken",
        arguments: [
            ("tcp://localhost:5000", "localhost", 5000, false),
            ("tls://logs.example:6514/", "logs.example", 6514, true),
            ("TLS://LOGS.example:1", "LOGS.example", 1, true), ("tcp://127.0.0.1:65535", "127.0.0.1", 65_535, false),
            ("tcp://[::1]:5000", "::1", 5000, false), ("tls://[fe80::1%eth0]:5000", "fe80::1%eth0", 5000, true),
        ]
    )
    func addresses(url: String, host: String, port: Int, isSecured: Bool) throws {
        let address = try #require(ReceiverAddress(url))
        #expect(address.host == host && address.port == port && address.isSecured == isSecured)
    }

    @Test(
        "is invalid without one of them, and with anything else",
        arguments: [
            "", "localhost", "localhost:5000", "//localhost:5000", "tcp:localhost:5000", "udp://localhost:5000",
            "tcp://localhost", "tcp://localhost:", "tcp://:5000", "tcp://localhost:0", "tcp://localhost:65536",
            "tcp://localhost:-1", "tcp://localhost:+1", "tcp://localhost:5000a", "tcp://::1:5000", "tcp://[::1]",
            "tcp://[]:5000", "tcp://[localhost]:5000", "tcp://user@localhost:5000", "tcp://user:secret@localhost:5000",
            "tcp://localhost:5000/path", "tcp://localhost/:5000", "tcp://localhost:5000?a=b", "tcp://local host:5000",
            "tcp://localhost:５０００", "tcp://[::1%a/b]:5000", "tcp://localhost\n:5000", "tcp://é.example:5000",
        ]
    )
    func invalidAddresses(url: String) {
        #expect(ReceiverAddress(url) == nil)
    }

    private static func message(_ url: String, _ change: (inout SocketConfiguration) -> Void) -> String? {
        var configuration = SocketConfiguration(url: url)
        change(&configuration)
        let tracker = SocketTracker(configuration, logger: Logger(label: "test"))
        do throws(TrackerError) {
            try tracker.checkSettings(for: EventCatalog.scripted([:]))
            return nil
        } catch {
            return error.message
        }
    }

    private static func message(_ change: (inout SocketConfiguration) -> Void) -> String? {
        message("tls://logs.example:6514", change)
    }

    @Test("names members that collide with others, or have no value")
    func fields() {
        for name in ["id", "name", "time", "receivedAt", "userId", "anonymousId", "sessionId", "context", "payload"] {
            let sentence = "there is another member with the name '\(name)'; choose another name"
            #expect(Self.message { $0.fields = ["\(name)=secret"] } == "The setting fields is invalid: \(sentence).")
        }
        for name in ["@timestamp", "@version"] {
            #expect(Self.message { $0.fields = ["\(name)=x"] } == nil)
            let message = Self.message { configuration in
                configuration.format = .logstash
                configuration.fieldFiles = ["\(name)=x"]
            }
            #expect(message?.hasPrefix("The setting fieldFiles is invalid: there is another member") == true)
        }
        let twice = Self.message { configuration in
            configuration.fields = ["token=x"]
            configuration.fieldFiles = ["token=/run/token"]
        }
        #expect(twice?.hasPrefix("The setting fieldFiles is invalid: there is another member") == true)
        #expect(
            Self.message { $0.fields = ["=x"] }
                == "The setting fields is invalid: entry 1 is not of the form name=value."
        )
        #expect(
            Self.message { $0.fields = ["a=b", "secret"] }
                == "The setting fields is invalid: entry 2 is not of the form name=value."
        )
        #expect(
            Self.message { $0.fieldFiles = ["x="] }
                == "The setting fieldFiles is invalid: entry 1 is not of the form name=path."
        )
        #expect(Self.message { $0.fields = ["a=", "b=c=d", "é =x"] } == nil)
    }

    @Test("has files for TLS only, and a certificate with its key")
    func files() {
        #expect(
            Self.message("tcp://localhost:5000") { $0.caFile = "ca.pem" }
                == "The setting caFile is invalid: only a url with tls:// needs it."
        )
        #expect(
            Self.message { $0.certificateFile = "client.pem" }
                == "The setting certificateFile is invalid: needs keyFile as well."
        )
        #expect(
            Self.message { $0.keyFile = "client.key" }
                == "The setting keyFile is invalid: needs certificateFile as well."
        )
        let both = Self.message { configuration in
            configuration.certificateFile = "client.pem"
            configuration.keyFile = "client.key"
        }
        #expect(both == nil)
    }
}
