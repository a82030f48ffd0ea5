import Glibc
import SDLHeadUnit
import SDLHeadUnitLink
import SDLLink

/// Reads commands from the standard input, until it ends.
struct RemoteControl {
  /// In bytes; longer lines are refused.
  private static let maximumLineLength = 4096

  private let server: HeadUnitServer
  private let apps: EventPrinter
  private var line: [UInt8] = []

  /// Reads on a detached thread; the end of the input ends the thread, not the program.
  static func start(server: HeadUnitServer, apps: EventPrinter) throws(LinkError) {
    try WorkerThread.detach(name: "commands") {
      var control = RemoteControl(server: server, apps: apps)
      control.run()
    }
  }

  private init(server: HeadUnitServer, apps: EventPrinter) {
    self.server = server
    self.apps = apps
  }

  private mutating func run() {
    var buffer = [UInt8](repeating: 0, count: Self.maximumLineLength)
    while true {
      let count = buffer.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      for byte in buffer[..<count] { accept(byte) }
    }
    if !line.isEmpty { accept(UInt8(ascii: "\n")) }
  }

  private mutating func accept(_ byte: UInt8) {
    guard byte == UInt8(ascii: "\n") else {
      // One byte more shows that the line is too long.
      if line.count <= Self.maximumLineLength { line.append(byte) }
      return
    }
    defer { line.removeAll(keepingCapacity: true) }
    guard line.count <= Self.maximumLineLength else { return apps.noteCommand("", failure: "command too long") }
    let text = String(decoding: line, as: UTF8.self)
    do {
      guard let command = try HeadUnitCommand.parse(text) else { return }
      guard command == .help else { return _ = apps.perform(command, text, on: server) }
      apps.printHelp()
    } catch {
      apps.noteCommand(text, failure: "command not understood: \(error)")
    }
  }
}
