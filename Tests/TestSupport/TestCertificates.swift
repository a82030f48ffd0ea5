import Foundation

/// Certificates for the tests of one process, made by the project's own script in a folder that is deleted at the end.
package struct TestCertificates: Sendable {
  /// The app id in all of them.
  package static let appID = "test-1"

  /// Valid, and signed by one authority.
  package static let desk = TestCertificates("desk")
  /// Signed by the same authority, valid until yesterday.
  package static let expired = TestCertificates(
    "expired", like: desk, from: "20200101000000Z", until: "20210101000000Z")
  /// Valid from 2100 on.
  package static let early = TestCertificates("early", like: desk, from: "21000101000000Z", until: "21010101000000Z")
  /// Signed by an authority that is not known elsewhere.
  package static let foreign = TestCertificates("foreign")
  /// Signed by the authority of ``desk``, for another app.
  package static let otherApp = TestCertificates("other-app", like: desk, appID: "another-app")

  package let folder: String

  package var authority: String { folder + "/authority.pem" }
  package var app: String { folder + "/app.pem" }
  package var appKey: String { folder + "/app-key.pem" }
  package var headUnit: String { folder + "/head-unit.pem" }
  package var headUnitKey: String { folder + "/head-unit-key.pem" }

  private init(
    _ name: String, like other: TestCertificates? = nil, appID: String = appID, from: String? = nil,
    until: String? = nil
  ) {
    folder = Self.root + "/" + name
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      if let other {
        for file in ["authority.pem", "authority-key.pem"] {
          try FileManager.default.copyItem(atPath: other.folder + "/" + file, toPath: folder + "/" + file)
        }
      }
      let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
      var environment = ProcessInfo.processInfo.environment
      environment["FROM"] = from
      environment["UNTIL"] = until
      Self.run([sources.appending(path: "scripts/make-certificates").path, folder, appID], environment)
    } catch {
      fatalError("no test certificates: \(error)")
    }
  }

  /// Runs a program to its end; its output goes nowhere.
  package static func run(_ arguments: [String], _ environment: [String: String]? = nil) {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = arguments
    if let environment { process.environment = environment }
    process.standardOutput = FileHandle.nullDevice
    do { try process.run() } catch { fatalError("\(arguments): \(error)") }
    process.waitUntilExit()
    precondition(process.terminationStatus == 0, "\(arguments) failed")
  }

  /// For files of one test.
  package static func temporaryPath(_ name: String) -> String { "\(root)/\(UUID().uuidString)-\(name)" }

  private static let root: String = {
    let path = FileManager.default.temporaryDirectory.appending(path: "sdl-certificates-\(getpid())").path
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    atexit { try? FileManager.default.removeItem(atPath: TestCertificates.root) }
    return path
  }()
}
