import FoundationEssentials
import Glibc
import SDLWire
import Testing

private func first(_ id: UInt32, total: UInt32, service: ServiceType = .rpc, session: UInt8 = 1) -> Frame {
  let announcement = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: total >> $0) } + [0, 0, 0, 1]
  return Frame(
    header: FrameHeader(
      version: 5, frameType: .first, service: service, frameInfo: 0, sessionID: session, dataSize: 8, messageID: id),
    payload: announcement)
}

private func piece(
  _ id: UInt32, _ number: UInt8, _ payload: [UInt8], service: ServiceType = .rpc, session: UInt8 = 1
) -> Frame {
  Frame(
    header: FrameHeader(
      version: 5, frameType: .consecutive, service: service, frameInfo: number, sessionID: session,
      dataSize: UInt32(payload.count), messageID: id),
    payload: payload)
}

@Suite struct MessageAssemblerTests {
  private func failure(_ assembler: inout MessageAssembler, _ frame: Frame, now: Duration = .zero)
    -> MessageAssembler.Failure?
  {
    do throws(MessageAssembler.Failure) {
      _ = try assembler.accept(frame, now: now)
      return nil
    } catch {
      return error
    }
  }

  @Test func singleFramesPass() throws {
    var assembler = MessageAssembler()
    let single = try frame(Vector.v31)
    #expect(try assembler.accept(single, now: .zero) == Message(header: single.header, payload: single.payload))
    #expect(assembler.nextDeadline == nil)
  }

  /// Distinguished by message id, by service and by session.
  @Test func interleavedMessages() throws {
    var assembler = MessageAssembler()
    let order = [
      first(1, total: 4), first(2, total: 4), first(1, total: 4, service: .hybrid), first(1, total: 4, session: 2),
      piece(2, 1, [21, 22]), piece(1, 1, [11, 12]), piece(1, 1, [31, 32], service: .hybrid),
      piece(1, 1, [41, 42], session: 2), piece(1, 0, [43, 44], session: 2), piece(1, 0, [13, 14]),
      piece(1, 0, [33, 34], service: .hybrid), piece(2, 0, [23, 24]),
    ]
    let messages = try order.compactMap { try assembler.accept($0, now: .zero) }
    #expect(messages.map(\.payload) == [[41, 42, 43, 44], [11, 12, 13, 14], [31, 32, 33, 34], [21, 22, 23, 24]])
    #expect(messages.map(\.header.sessionID) == [2, 1, 1, 1])
  }

  /// All incomplete messages together hold no more than one message may.
  @Test func incompleteMessagesAreBoundedTogether() throws {
    var assembler = MessageAssembler(maximumMessageSize: 100)
    for id in 1...4 as ClosedRange<UInt32> {
      _ = try assembler.accept(first(id, total: 100), now: .seconds(Int(id)))
      _ = try assembler.accept(
        piece(id, 1, [UInt8](repeating: 0, count: 40)), now: .seconds(Int(id)))
    }
    let rest = piece(4, 0, [UInt8](repeating: 0, count: 60))
    #expect(try assembler.accept(rest, now: .seconds(5))?.payload.count == 100)
    #expect(failure(&assembler, piece(1, 2, [0]), now: .seconds(5)) == .notAnnounced)
    #expect(failure(&assembler, piece(2, 2, [0]), now: .seconds(5)) == .notAnnounced)
    #expect(failure(&assembler, piece(3, 2, [0]), now: .seconds(5)) == nil)
  }

  @Test func missingNumber() throws {
    var assembler = MessageAssembler()
    _ = try assembler.accept(first(1, total: 9), now: .zero)
    _ = try assembler.accept(piece(1, 1, [1]), now: .zero)
    #expect(failure(&assembler, piece(1, 3, [1])) == .outOfSequence(expected: 2, got: 3))
    #expect(assembler.nextDeadline == nil)
    #expect(failure(&assembler, piece(1, 4, [1])) == .notAnnounced)
  }

  @Test func repeatedNumber() throws {
    var assembler = MessageAssembler()
    _ = try assembler.accept(first(1, total: 9), now: .zero)
    _ = try assembler.accept(piece(1, 1, [1]), now: .zero)
    #expect(failure(&assembler, piece(1, 1, [1])) == .outOfSequence(expected: 2, got: 1))
  }

  @Test func failureLeavesOthersAlone() throws {
    var assembler = MessageAssembler()
    _ = try assembler.accept(first(1, total: 2), now: .zero)
    _ = try assembler.accept(first(2, total: 2), now: .zero)
    #expect(failure(&assembler, piece(1, 7, [1])) == .outOfSequence(expected: 1, got: 7))
    #expect(try assembler.accept(piece(2, 0, [5, 6]), now: .zero)?.payload == [5, 6])
  }

  @Test func sizes() throws {
    var assembler = MessageAssembler()
    _ = try assembler.accept(first(1, total: 3), now: .zero)
    let rest = piece(1, 0, [1, 2])
    let incomplete = Message(header: rest.header, payload: [1, 2])
    #expect(failure(&assembler, rest) == .incomplete(incomplete, announced: 3))
    // … and it is forgotten.
    #expect(failure(&assembler, rest) == .notAnnounced)
    _ = try assembler.accept(first(1, total: 3), now: .zero)
    #expect(failure(&assembler, piece(1, 0, [1, 2, 3, 4])) == .sizeMismatch(announced: 3, got: 4))
    // All bytes have come, but the frame is not marked as the last.
    _ = try assembler.accept(first(1, total: 3), now: .zero)
    #expect(failure(&assembler, piece(1, 1, [1, 2, 3])) == .sizeMismatch(announced: 3, got: 3))
    #expect(failure(&assembler, first(1, total: 0)) == .empty)
    var short = first(1, total: 3)
    short.payload.removeLast()
    #expect(failure(&assembler, short) == .sizeMismatch(announced: 8, got: 7))
  }

  @Test func oversizedAnnouncement() {
    var assembler = MessageAssembler(maximumMessageSize: 100)
    #expect(failure(&assembler, first(1, total: 100)) == nil)
    #expect(failure(&assembler, first(2, total: 101)) == .oversized(101))
    #expect(failure(&assembler, first(3, total: .max)) == .oversized(.max))
    #expect(failure(&assembler, piece(2, 1, [1])) == .notAnnounced)
    #expect(failure(&assembler, piece(1, 1, [1])) == nil)
  }

  @Test func newAnnouncementReplacesTheOld() throws {
    var assembler = MessageAssembler()
    _ = try assembler.accept(first(1, total: 4), now: .zero)
    _ = try assembler.accept(piece(1, 1, [9, 9]), now: .zero)
    _ = try assembler.accept(first(1, total: 2), now: .zero)
    #expect(try assembler.accept(piece(1, 0, [1, 2]), now: .zero)?.payload == [1, 2])
  }

  @Test func staleMessagesAreDropped() throws {
    var assembler = MessageAssembler()
    _ = try assembler.accept(first(1, total: 4), now: .seconds(0))
    _ = try assembler.accept(piece(1, 1, [1]), now: .seconds(9))
    _ = try assembler.accept(piece(1, 2, [2]), now: .milliseconds(18_999))
    #expect(assembler.nextDeadline == .milliseconds(28_999))
    // Any frame drops expired messages, and the time-out counts from the last piece.
    _ = try assembler.accept(frame(Vector.v31), now: .milliseconds(28_999))
    #expect(assembler.nextDeadline == nil)
    #expect(failure(&assembler, piece(1, 3, [3]), now: .seconds(29)) == .notAnnounced)
  }

  /// Without another frame.
  @Test func deadline() throws {
    var assembler = MessageAssembler()
    #expect(assembler.nextDeadline == nil)
    _ = try assembler.accept(first(1, total: 4), now: .seconds(1))
    _ = try assembler.accept(first(2, total: 4), now: .seconds(2))
    _ = try assembler.accept(piece(1, 1, [1]), now: .seconds(3))
    #expect(assembler.nextDeadline == .seconds(12))
    assembler.dropExpired(now: .milliseconds(11_999))
    #expect(assembler.nextDeadline == .seconds(12))
    assembler.dropExpired(now: .seconds(12))
    #expect(assembler.nextDeadline == .seconds(13))
    assembler.dropExpired(now: .seconds(13))
    #expect(assembler.partialByteCount == 0 && assembler.nextDeadline == nil)
  }

  /// The memory that messages take, with what is reserved for their next bytes.
  @Test func memory() throws {
    var assembler = MessageAssembler()
    _ = try assembler.accept(first(1, total: 1_000_000), now: .zero)
    for number in 1...9 as ClosedRange<UInt8> {
      _ = try assembler.accept(piece(1, number, [UInt8](repeating: 0, count: 100_000)), now: .zero)
      let count = Int(number) * 100_000
      #expect((count...min(count * 2, 1_000_000) + 4096).contains(assembler.partialByteCount))
    }
    #expect(assembler.dropOldest() == .rpc && assembler.partialByteCount == 0)
    #expect(assembler.dropOldest() == nil)
  }

  /// First frames always come in clear.
  @Test(arguments: [true, false]) func clearAndEncryptedFrames(isEncrypted: Bool) throws {
    var assembler = MessageAssembler()
    func encrypted(_ frame: Frame, _ isEncrypted: Bool) -> Frame {
      var frame = frame
      frame.header.isEncrypted = isEncrypted
      return frame
    }
    _ = try assembler.accept(first(1, total: 2), now: .zero)
    _ = try assembler.accept(encrypted(piece(1, 1, [1]), isEncrypted), now: .zero)
    let message = try assembler.accept(encrypted(piece(1, 0, [2]), isEncrypted), now: .zero)
    #expect(message?.header.isEncrypted == isEncrypted)
    _ = try assembler.accept(first(1, total: 2), now: .zero)
    _ = try assembler.accept(encrypted(piece(1, 1, [1]), isEncrypted), now: .zero)
    #expect(failure(&assembler, encrypted(piece(1, 0, [2]), !isEncrypted)) == .mixedEncryption)
    #expect(assembler.nextDeadline == nil)
  }

  @Test func stalestGivesWay() throws {
    var assembler = MessageAssembler(maximumPartialMessages: 3)
    for id in UInt32(1)...3 { _ = try assembler.accept(first(id, total: 4), now: .seconds(Int(id))) }
    _ = try assembler.accept(piece(1, 1, [1]), now: .seconds(4))
    _ = try assembler.accept(first(4, total: 4), now: .seconds(5))
    #expect(failure(&assembler, piece(2, 1, [1]), now: .seconds(5)) == .notAnnounced)
    #expect(failure(&assembler, piece(1, 2, [1]), now: .seconds(5)) == nil)
    #expect(failure(&assembler, piece(3, 1, [1]), now: .seconds(5)) == nil)
  }

  /// An announcement allocates nothing: with memory reserved, this would take 256 GiB.
  @Test func announcementsReserveNoMemory() throws {
    var assembler = MessageAssembler(maximumMessageSize: .max, maximumPartialMessages: 64)
    let before = try virtualByteCount()
    for id in UInt32(1)...64 {
      _ = try assembler.accept(first(id, total: .max), now: .zero)
      _ = try assembler.accept(piece(id, 1, [1]), now: .zero)
    }
    for id in UInt32(1)...64 { #expect(failure(&assembler, piece(id, 2, [1])) == nil) }
    #expect(try virtualByteCount() < before + (64 << 30))
  }

  /// Address space of this process, whether backed by memory or not.
  private func virtualByteCount() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    let pages = try #require(text.split(separator: " ").first.flatMap { Int($0) })
    return pages * Int(getpagesize())
  }
}
