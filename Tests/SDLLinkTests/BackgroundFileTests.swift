import Glibc
import Synchronization
import TestSupport
import Testing

@testable import SDLLink

/// Files that are written on a thread of their own.
@Suite struct BackgroundFileTests {
  private func path() -> String { "/tmp/sdl-file-\(getpid())-\(UInt64.random(in: 0...(.max)))" }

  private func file(
    _ path: String, atMost count: Int = 1 << 20, failed: (@Sendable (Int32) -> Void)? = nil
  ) throws -> BackgroundFile {
    try BackgroundFile(creating: path, name: "test", maximumByteCount: count, waitsForReader: false, failed: failed)
  }

  private func text(_ path: String) throws -> String {
    let file = try nonNull(fopen(path, "r"))
    defer { fclose(file) }
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    let count = fread(&buffer, 1, buffer.count, file)
    return String(decoding: buffer.prefix(count), as: UTF8.self)
  }

  /// Everything that was added is there once it is closed, and nothing after that.
  @Test func isCompleteAfterTheEnd() throws {
    let path = path()
    defer { unlink(path) }
    let file = try file(path)
    _ = file.append(Array("early ".utf8))
    try file.start()
    for _ in 0..<1000 { _ = file.append(Array("more ".utf8)) }
    file.close()
    guard case .omitted(isFirst: false) = file.append(Array("late".utf8)) else {
      Issue.record("added after the end")
      return
    }
    #expect(try text(path) == "early " + String(repeating: "more ", count: 1000))
  }

  /// The reader of a pipe sees the end.
  @Test func closesItsDescriptor() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    let file = BackgroundFile(ends[1], name: "test", maximumByteCount: 100)
    try file.start()
    _ = file.append([1, 2, 3])
    file.close()
    var buffer = [UInt8](repeating: 0, count: 10)
    #expect(read(ends[0], &buffer, 10) == 3 && read(ends[0], &buffer, 10) == 0)
    close(ends[0])
  }

  /// What can't be kept is counted, and said before what comes next.
  @Test func omissionsAreSaid() throws {
    let path = path()
    defer { unlink(path) }
    let file = try file(path, atMost: 4)
    _ = file.append(Array("full".utf8))
    for _ in 0..<3 { _ = file.append(Array("lost".utf8)) }
    try file.start()
    file.finish()
    _ = file.append(Array("next".utf8)) { Array(" (\($0)) ".utf8) }
    file.close()
    #expect(try text(path) == "full (3) next")
  }

  /// Each is told to whoever adds, and counted once.
  @Test func omissionsAreCounted() throws {
    let path = path()
    defer { unlink(path) }
    let file = try file(path, atMost: 4)
    func add(_ text: String) -> String { "\(file.append(Array(text.utf8)))" }
    #expect(add("full") == "added(after: 0)")
    #expect(
      [add("a"), add("b"), add("c")] == ["omitted(isFirst: true)"]
        + Array(repeating: "omitted(isFirst: false)", count: 2))
    try file.start()
    file.finish()
    #expect(add("next") == "added(after: 3)")
    file.finish()
    #expect(add("more") == "added(after: 0)")
    file.close()
  }

  /// The descriptor belongs to it from the beginning.
  @Test func neverStartedAndGone() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    _ = BackgroundFile(ends[1], name: "test", maximumByteCount: 100)
    // Another program that starts now may have it for a moment.
    var end = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
    #expect(poll(&end, 1, 30_000) == 1)
    var byte: UInt8 = 0
    #expect(read(ends[0], &byte, 1) == 0)
    close(ends[0])
  }

  /// The opener did not wait for the reader; the writer does.
  @Test func readerThatTakesItsTime() throws {
    let path = path()
    #expect(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    let writer = try file(path)
    try writer.start()
    // F_GETPIPE_SZ; 16 pages.
    let capacity = Int(fcntl(reader, 1032))
    let bytes = (0..<capacity * 4).map { UInt8(truncatingIfNeeded: $0 / 7) }
    _ = writer.append(bytes)
    // The pipe is full: the next write has to wait, or fails.
    #expect(
      eventually {
        var count: Int32 = 0
        return ioctl(reader, UInt(FIONREAD), &count) == 0 && Int(count) > capacity - 4096
      })
    usleep(10_000)
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while received.count < bytes.count, writer.failure == nil {
      var waiting = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, 30_000) == 1 else { break }
      received += buffer[..<max(read(reader, &buffer, buffer.count), 0)]
    }
    #expect(writer.failure == nil && received == bytes)
    writer.close()
    close(reader)
  }

  /// It is told once, on the file's thread, which may close the file.
  @Test func failureIsTold() throws {
    let failures = Mutex<[Int32]>([])
    let holder = Mutex<BackgroundFile?>(nil)
    let file = try file("/dev/full") { code in
      failures.withLock { $0.append(code) }
      holder.withLock { $0 }?.close()
    }
    holder.withLock { $0 = file }
    try file.start()
    _ = file.append([1])
    #expect(eventually { file.failure == ENOSPC })
    guard case .failed(ENOSPC) = file.append([2]) else {
      Issue.record("added after a failure")
      return
    }
    file.close()
    #expect(failures.withLock { $0 } == [ENOSPC])
    holder.withLock { $0 = nil }
  }

  /// Neither the opener waits for the reader of a pipe, nor does one that goes away end the process.
  @Test func pipeWithoutAReader() throws {
    let path = path()
    #expect(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    #expect(throws: LinkError.system(operation: "open \(path)", errno: ENXIO)) { try file(path) }
    let reader = open(path, O_RDONLY | O_NONBLOCK)
    let writer = try file(path)
    try writer.start()
    close(reader)
    _ = writer.append([1])
    #expect(eventually { writer.failure == EPIPE })
    writer.close()
  }

  /// One that was never started has nothing to wait for.
  @Test func neverStarted() throws {
    let path = path()
    defer { unlink(path) }
    let (file, began) = (try file(path), MonotonicClock.now)
    file.close()
    #expect(MonotonicClock.now - began < .milliseconds(500))
  }

  /// As the sizes in the header of a sound file, which are known at its end.
  @Test func theBeginningIsReplaced() throws {
    let path = path()
    defer { unlink(path) }
    let file = try file(path)
    file.replaceBeginning(Array("head".utf8))
    _ = file.append(Array("0000 and more".utf8))
    try file.start()
    file.finish()
    #expect(try text(path) == "head and more")
    _ = file.append(Array(", much".utf8))
    file.replaceBeginning(Array("HEAD".utf8))
    file.close()
    #expect(try text(path) == "HEAD and more, much")
  }

  /// Nobody waits for a reader that reads nothing, not even at the end.
  @Test(.timeLimit(.minutes(1))) func readerThatStandsStill() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let file = BackgroundFile(ends[1], name: "test", maximumByteCount: 1 << 20)
    try file.start()
    _ = file.append([UInt8](repeating: 1, count: 1 << 19))
    file.finish()
    #expect(file.failure == nil)
    close(ends[0])
    file.close()
    #expect(file.failure == EPIPE)
  }
}
