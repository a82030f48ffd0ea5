import Foundation

/// A process that takes the place of a system service on a private bus. The program, in `Programs`, takes commands and
/// tells what happens to it.
package class StandIn {
  /// One line of what it has told.
  package struct Event {
    package var name: String
    package var fields: [String: Any]

    package subscript(_ key: String) -> String? { fields[key].flatMap { "\($0)" } }
  }

  package let bus: PrivateBus
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var unread: [UInt8] = []
  /// Everything that it has told and no test has waited for.
  private var events: [Event] = []

  /// - Parameter policy: see ``PrivateBus``.
  init(_ program: String, policy: String = "") throws {
    bus = try PrivateBus(policy: policy)
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Programs")
    process.executableURL = URL(filePath: "/usr/bin/python3")
    process.arguments = ["-B", folder.appending(path: program).path, bus.address]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    try wait(for: "ready")
  }

  deinit {
    if process.isRunning { process.killAndWait() }
  }

  /// Has it do something, and waits until that has been done.
  package func command(_ words: String...) throws {
    guard let name = words.first else { return }
    try input.fileHandleForWriting.write(contentsOf: Data((words.joined(separator: " ") + "\n").utf8))
    try wait(for: "done") { $0["command"] == name }
  }

  /// The next event of this name, which is taken; others are kept.
  @discardableResult
  package func wait(for name: String, _ match: (Event) -> Bool = { _ in true }) throws -> Event {
    let deadline = ContinuousClock.now + testTimeout
    while true {
      if let index = events.firstIndex(where: { $0.name == name && match($0) }) { return events.remove(at: index) }
      guard ContinuousClock.now < deadline, read() else {
        throw BusFailure(description: "no \(name) among \(events.map { "\($0.name) \($0.fields)" })")
      }
    }
  }

  /// How many events of this name have come, and no test has waited for.
  package func count(of name: String) -> Int {
    var descriptor = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
    while poll(&descriptor, 1, 0) > 0, read() {}
    return events.count { $0.name == name }
  }

  /// False at the end, and when nothing comes.
  private func read() -> Bool {
    let file = output.fileHandleForReading.fileDescriptor
    var descriptor = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
    guard poll(&descriptor, 1, Int32(testTimeout.components.seconds) * 1000) > 0 else { return false }
    var bytes = [UInt8](repeating: 0, count: 65536)
    let count = Glibc.read(file, &bytes, bytes.count)
    guard count > 0 else { return false }
    unread += bytes[..<count]
    while let end = unread.firstIndex(of: 10) {
      let line = Data(unread[..<end])
      unread.removeFirst(end + 1)
      guard let fields = try? JSONSerialization.jsonObject(with: line) as? [String: Any],
        let name = fields["event"] as? String
      else { continue }
      events.append(Event(name: name, fields: fields))
    }
    return true
  }
}
