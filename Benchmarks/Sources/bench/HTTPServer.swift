import Foundation

/// A server to which rows send requests.
enum HTTPServer: String {
    case sluice = "Sluice without a journal"
    case measured = "Sluice with metrics"
    case watched = "Sluice with metrics, a live tail and an open dashboard"
    case keyed = "Sluice with a key, its limits and metrics"
    case encrypted = "Sluice with TLS"
    case synced = "Sluice with a synced journal"
    case unsynced = "Sluice with an unsynced journal"
    case busy = "Sluice with many keys, metrics and a synced journal"
    case bareNIO = "bare NIO handler"
    case nginx = "nginx, return 200"

    /// The server as the reference of a row.
    func reference(target: Double, measure: @escaping () throws -> Double) -> Reference {
        switch self {
        case .bareNIO, .nginx: .ceiling(rawValue, target: target, measure: measure)
        case .sluice, .measured, .watched, .keyed, .encrypted, .synced, .unsynced, .busy:
            .itself(rawValue, target: target, measure: measure)
        }
    }

    /// Starts the server, on the loopback interface only.
    private func start(port: Int, at site: Site, environment: [String: String]) throws -> Child {
        func serve(_ options: [String] = []) throws -> Child {
            let arguments = ["--port", String(port), "--events", site.plan] + options
            return try Child("\(site.programs)/bench-serve", arguments, environment: environment)
        }
        let journal = ["--journal", folder(at: site)]
        return switch self {
        case .sluice: try serve()
        case .keyed: try serve(["--key", Self.key, "--metrics"])
        case .measured: try serve(["--metrics"])
        case .watched: try serve(["--metrics", "--admin", String(Self.privatePort)])
        case .encrypted: try serve(["--certificate", makeCertificate(at: site)])
        case .synced: try serve(journal)
        case .unsynced: try serve(journal + ["--unsynced"])
        case .busy: try serve(journal + ["--metrics"] + MixedRequests.keys.flatMap { ["--key", $0] })
        case .bareNIO:
            try Child("\(site.programs)/bench-bare", [String(port), String(site.cores)], environment: environment)
        case .nginx: try startNginx(port: port, at: site)
        }
    }

    /// Runs a function while the server runs, and removes the files that the server wrote.
    func serving<Value>(
        port: Int,
        at site: Site,
        environment: [String: String] = [:],
        _ body: (Child) throws -> Value
    ) throws -> Value {
        try removeFiles(at: site)
        // Otherwise the system would write the rest of an unsynced journal during the next round.
        defer { try? removeFiles(at: site) }
        let process = try start(port: port, at: site, environment: environment)
        defer { _ = try? process.stop() }
        try process.waitUntilListening(at: port)
        return try body(process)
    }

    private static let privatePort = 8183

    /// Starts what looks at the server: a live tail of all events, and the dashboard's question once a second.
    func startWatchers(_ server: Child) throws -> [Child] {
        guard self == .watched else { return [] }
        try server.waitUntilListening(at: Self.privatePort)
        let url = "http://127.0.0.1:\(Self.privatePort)/v1"
        let ask = "curl -sf -o /dev/null \(url)/dashboard"
        return [
            try Child("curl", ["-sN", "-o", "/dev/null", "\(url)/tail"]),
            try Child("bash", ["-c", "while \(ask); do sleep 1; done"]),
        ]
    }

    /// The key of the server that has one.
    static let key = "the-key-of-the-benchmark"

    /// Removes the files that the server wrote.
    private func removeFiles(at site: Site) throws {
        let path = folder(at: site)
        guard FileManager.default.fileExists(atPath: path) else { return }
        try FileManager.default.removeItem(atPath: path)
    }

    /// The folder for the server's files.
    private func folder(at site: Site) -> String { site.scratch + "/http-server" }

    /// Makes a certificate and its key, and returns the path of the file that contains both.
    private func makeCertificate(at site: Site) throws -> String {
        let folder = folder(at: site)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let (certificate, key) = ("\(folder)/certificate.pem", "\(folder)/key.pem")
        try Child.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-keyout", key, "-out", certificate, "-subj", "/CN=localhost",
            ]
        )
        let texts = try [certificate, key].map { try String(contentsOfFile: $0, encoding: .utf8) }
        try texts.joined().write(toFile: certificate, atomically: true, encoding: .utf8)
        return certificate
    }

    private func startNginx(port: Int, at site: Site) throws -> Child {
        let folder = folder(at: site)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let configuration = Self.nginxConfiguration(port: port, workers: site.cores)
        try configuration.write(toFile: "\(folder)/nginx.conf", atomically: true, encoding: .utf8)
        return try Child("nginx", ["-p", folder, "-c", "nginx.conf", "-e", "stderr"])
    }

    /// Answers every request with Sluice's answer to one valid event; paths are relative to the folder.
    private static func nginxConfiguration(port: Int, workers: Int) -> String {
        """
        daemon off;
        worker_processes \(workers);
        pid nginx.pid;
        error_log stderr crit;
        events {}
        http {
            access_log off;
            default_type application/json;
            keepalive_requests 1000000000;
            client_body_temp_path body;
            proxy_temp_path proxy;
            fastcgi_temp_path fastcgi;
            uwsgi_temp_path uwsgi;
            scgi_temp_path scgi;
            server {
                listen 127.0.0.1:\(port);
                location / { return 200 '{"accepted":1,"rejected":[]}'; }
            }
        }
        """
    }
}
