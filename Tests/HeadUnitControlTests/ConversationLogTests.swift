import Glibc
import SDLHeadUnitLink
import SDLLink
import SDLMessages
import SDLWire
import Synchronization
import TestSupport
import Testing

@testable import HeadUnitControl

@Suite struct ConversationLogTests {
  private static func log(folder: String? = nil) -> ConversationLog {
    let lines = ConversationWriter(nil, keepsRecent: true, since: .zero, clock: TimeSource { .seconds(5) })
    return ConversationLog(lines, folder: folder)
  }

  private static func lines(_ log: ConversationLog) throws -> [JSONObject] {
    try log.lines(after: 0, atMost: .max).0.split(separator: UInt8(ascii: "\n")).map { try JSONObject(parsing: $0) }
  }

  /// The cost of an event does not grow with those before: a second for all of these.
  @Test(.timeLimit(.minutes(1))) func manyEvents() {
    let log = ConversationLog(ConversationWriter(nil, keepsRecent: true, since: .zero))
    let count = Mutex(0)
    log.whenGrown { count.withLock { $0 += 1 } }
    for _ in 0..<300_000 { log.note(.session(id: 1, .videoData([0]))) }
    #expect(count.withLock { $0 } == 300_000)
  }

  /// Who follows the log finds the line when told of it.
  @Test func growth() throws {
    let log = Self.log()
    let sequences = Mutex<[Int]>([])
    log.whenGrown { [weak log] in sequences.withLock { $0.append(log?.sequence ?? 0) } }
    log.note(.connected(id: 1, peer: "car"))
    log.noteOutput("a line")
    log.noteCommand("press ok", failure: nil)
    log.noteCommand("press no", failure: "there is no app")
    #expect(sequences.withLock { $0 } == [1, 2, 3, 4])
    let lines = try Self.lines(log)
    #expect(lines.map { $0["kind"]?.string } == ["state", "output", "event", "event"])
    #expect(lines.map { $0["text"]?.string } == [nil, "a line", "press ok", "press no"])
    #expect(lines.map { $0["result"]?.string } == [nil, nil, "done", "failed"])
    #expect(lines.map { $0["cause"]?.string } == [nil, nil, nil, "there is no app"])
  }

  /// The totals come after the last video.
  @Test func linesOfTheProgram() throws {
    let log = Self.log()
    log.note(.session(id: 1, .videoData([1, 2])))
    log.noteProgram("totals", ["pictures": .integer(1)])
    let lines = try Self.lines(log)
    #expect(lines.map { $0["kind"]?.string } == ["media", "state"])
    #expect(lines.last?["type"] == .string("totals") && lines.last?["pictures"] == .integer(1))
  }

  private static func file(_ bulk: [UInt8]) -> HeadUnitServerEvent {
    let rpc = RPCMessage(type: .request, function: .putFile, correlationID: 1, bulk: bulk)
    return .session(id: 1, .message(ConversationMessage(sender: .app, content: .rpc(rpc))))
  }

  @Test func files() throws {
    let folder = "/tmp/sdl-log-\(getpid())-\(UInt64.random(in: 0...(.max)))"
    #expect(mkdir(folder, 0o700) == 0)
    let paths = (1...2).map { "\(folder)/\($0)-PutFile" }
    defer {
      for path in paths { unlink(path) }
      rmdir(folder)
    }
    let log = Self.log(folder: folder)
    for bulk in [[1, 2, 3], [], [4]] as [[UInt8]] { log.note(Self.file(bulk)) }
    let bulks = try Self.lines(log).map { $0["bulk"]?.object }
    #expect(bulks.map { $0?["file"]?.string } == [paths[0], nil, paths[1]])
    #expect(bulks.map { $0?["bytes"]?.integer } == [3, nil, 1] && log.failure == nil)
    let file = try nonNull(fopen(paths[0], "r"))
    defer { fclose(file) }
    var contents = [UInt8](repeating: 0, count: 10)
    #expect(fread(&contents, 1, 10, file) == 3 && contents.prefix(3) == [1, 2, 3])
  }

  /// The last bytes of a file are written when it is closed.
  @Test func fullDisk() throws {
    let folder = "/tmp/sdl-log-\(getpid())-\(UInt64.random(in: 0...(.max)))"
    let path = "\(folder)/1-PutFile"
    #expect(mkdir(folder, 0o700) == 0 && symlink("/dev/full", path) == 0)
    defer {
      unlink(path)
      rmdir(folder)
    }
    let log = Self.log(folder: folder)
    log.note(Self.file([1]))
    let bulk = try #require(try Self.lines(log).first?["bulk"]?.object)
    #expect(bulk["file"] == nil && bulk["bytes"] == .integer(1) && log.failure == ENOSPC)
  }

  /// What can't be kept is told at the end, and the line has no path.
  @Test func noFolder() throws {
    let log = Self.log(folder: "/nonexistent")
    log.note(Self.file([1]))
    let bulk = try #require(try Self.lines(log).first?["bulk"]?.object)
    #expect(bulk["file"] == nil && bulk["bytes"] == .integer(1) && log.failure == ENOENT)
  }
}
