import Glibc
import SDLHeadUnitLink
import SDLLink
import SDLMessages
import Synchronization

/// Everything that happens to a head unit, as a JSON object on each line (`--log`, `GET /log`): the conversation with the
/// apps, commands, and what its program does.
package final class ConversationLog: Sendable {
  /// In a structure, since each access to a closure in the mutex itself would wrap it once more.
  private struct Listener {
    /// Called after each line, with no lock held.
    var noteGrowth: (@Sendable () -> Void)?
  }

  private let lines: ConversationWriter
  private let conversation: ServerConversation
  private let listener = Mutex(Listener())
  /// Where files of apps are kept; nil for nowhere.
  private let folder: String?
  private let bulkCount = Atomic(0)
  private let bulkFailure = Mutex<Int32?>(nil)

  /// - Parameters:
  ///   - countsMedia: whether video and sound have a line a second; otherwise each message has one.
  ///   - folder: where the binary data of RPCs is kept, which has to exist; nil for nowhere.
  package init(_ lines: ConversationWriter, countsMedia: Bool = true, folder: String? = nil) {
    self.lines = lines
    conversation = ServerConversation(lines, countsMedia: countsMedia)
    self.folder = folder
  }

  package func start() throws(LinkError) {
    try lines.start()
  }

  /// Why not everything was written; nil if it was.
  package var failure: Int32? { lines.failure ?? bulkFailure.withLock { $0 } }

  func whenGrown(_ body: @escaping @Sendable () -> Void) {
    listener.withLock { $0.noteGrowth = body }
  }

  /// The number of the last line.
  var sequence: Int { lines.sequence }

  /// As ``ConversationWriter/lines(after:atMost:)``.
  func lines(after number: Int, atMost byteCount: Int) -> ([UInt8], last: Int) {
    lines.lines(after: number, atMost: byteCount)
  }

  /// Waits until everything is written, or nothing more is read.
  package func finish() {
    lines.finish()
  }

  /// The same, and closes the file.
  package func close() {
    lines.close()
  }

  package func note(_ event: HeadUnitServerEvent) {
    conversation.note(event, bulkFile: savedBulk(of: event))
    tellOfGrowth()
  }

  private func tellOfGrowth() {
    listener.withLock { $0 }.noteGrowth?()
  }

  /// A line that the program of the test has written.
  package func noteOutput(_ line: String) {
    lines.note("output", ["text": .string(line)])
    tellOfGrowth()
  }

  /// A command that was typed or sent: `failure` says why it has no effect.
  package func noteCommand(_ text: String, failure: String?) {
    let members = JSONObject(present: [
      "dir": .string("driver"), "type": .string("command"), "text": .string(text),
      "result": .string(failure == nil ? "done" : "failed"), "cause": failure.map(JSONValue.string),
    ])
    lines.note("event", members)
    tellOfGrowth()
  }

  /// The program's own lines: the ports at the beginning, and the totals at the end.
  package func noteProgram(_ type: String, _ members: JSONObject) {
    lines.flushMedia()
    lines.note("state", members.merging(["type": .string(type)]) { $1 })
  }

  /// Keeps the binary data of an RPC, if that is wanted.
  /// - Returns: where it is.
  private func savedBulk(of event: HeadUnitServerEvent) -> String? {
    guard let folder, case .session(_, .message(let message)) = event, case .rpc(let rpc) = message.content,
      !rpc.bulk.isEmpty
    else { return nil }
    let number = bulkCount.wrappingAdd(1, ordering: .relaxed).newValue
    let path = "\(folder)/\(number)-\(rpc.function)"
    guard Self.save(rpc.bulk, path) else {
      bulkFailure.withLock { $0 = errno }
      return nil
    }
    return path
  }

  private static func save(_ bytes: [UInt8], _ path: String) -> Bool {
    guard let file = fopen(path, "we") else { return false }
    let isWritten = fwrite(bytes, 1, bytes.count, file) == bytes.count
    return fclose(file) == 0 && isWritten
  }
}
