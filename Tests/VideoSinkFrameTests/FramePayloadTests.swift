import GStreamerKit
import H264
import Testing

@testable import Plugin
@testable import PluginTestSupport

/// Access units on their way to the socket, whose memory is used again and again.
@Suite struct FramePayloadTests {
  private static let delimiter: [UInt8] = [0, 0, 0, 1, 0x09, 0xF0]
  private static let slice: [UInt8] = [0, 0, 0, 1, 0x65, 0x88, 0x84, 0x21]
  /// After a length each, as in MP4.
  private static let prefixed: [UInt8] = [0, 0, 0, 2, 0x09, 0xF0, 0, 0, 0, 4, 0x65, 0x88, 0x84, 0x21]

  enum Use: CaseIterable {
    case stored
    case storedKeyFrame
    case movedDelimiter
    case lastDelimiter
    case blocks
    case manyBlocks
    case lengths
    case packets
  }

  private let bench: FrameBench

  init() throws {
    bench = try FrameBench()
  }

  private func buffer(_ blocks: [[UInt8]]) throws -> UnsafeMutablePointer<GstBuffer> {
    let buffer = try nonNull(gst_buffer_new())
    for block in blocks {
      let part = try nonNull(gst_buffer_new_memdup(block, gsize(block.count)))
      gst_buffer_append_memory(buffer, gst_buffer_get_all_memory(part))
      gst_buffer_unref(part)
    }
    return buffer
  }

  /// Puts an access unit into a payload; returns the buffer to which that refers, if any.
  private func fill(_ payload: FramePayload, _ use: Use) throws -> UnsafeMutablePointer<GstBuffer>? {
    func refer(
      to blocks: [[UInt8]], _ framing: NALUnitFraming = .startCodes
    ) throws -> UnsafeMutablePointer<GstBuffer> {
      let buffer = try buffer(blocks)
      #expect(payload.refer(to: buffer, framing: framing, isMerged: false))
      return buffer
    }
    func store(_ bytes: [UInt8], isKeyFrame: Bool = false) {
      bytes.withUnsafeBytes { payload.store($0, isKeyFrame: isKeyFrame) }
    }
    switch use {
    case .stored: store(Self.slice)
    case .storedKeyFrame:
      store(Self.slice, isKeyFrame: true)
      payload.encoding = FramePayload.Encoding(time: .milliseconds(1), isForced: true)
    case .movedDelimiter, .lastDelimiter:
      store(Self.delimiter + Self.slice)
      payload.moveDelimiter(isLast: use == .lastDelimiter)
    case .blocks:
      let buffer = try refer(to: [Self.delimiter + Self.slice, Self.slice])
      payload.moveDelimiter(isLast: false)
      return buffer
    case .manyBlocks: return try refer(to: [[UInt8]](repeating: Self.slice, count: 9))
    case .lengths:
      let buffer = try refer(to: [Self.prefixed], .lengths(byteCount: 4))
      payload.moveDelimiter(isLast: true)
      return buffer
    case .packets:
      let buffer = try refer(to: [Self.slice])
      // Types that RTP can't carry are left out.
      store([0, 0, 0, 1, 0x1E, 1] + Self.slice)
      payload.markKeyFrame()
      var packetizer = RTPPacketizer(sequenceNumber: 1, timestamp: 2, synchronizationSource: 3)
      #expect(payload.packetize(with: &packetizer, at: .zero))
      return buffer
    }
    return nil
  }

  private func segments(_ payload: FramePayload) -> [[UInt8]] {
    (0..<payload.segmentCount).map { Array(payload.segment(at: $0)) }
  }

  private func isWritable(_ buffer: UnsafeMutablePointer<GstBuffer>) -> Bool {
    var map = GstMapInfo()
    guard gst_buffer_map(buffer, &map, GST_MAP_WRITE) != 0 else { return false }
    gst_buffer_unmap(buffer, &map)
    return true
  }

  @Test func whatIsWritten() throws {
    let written: [(Use, [UInt8])] = [
      (.stored, Self.slice), (.movedDelimiter, Self.slice + Self.delimiter), (.lastDelimiter, Self.slice),
      (.blocks, Self.slice + Self.slice + Self.delimiter), (.lengths, Self.slice),
    ]
    for (use, bytes) in written {
      let payload = FramePayload()
      let buffer = try fill(payload, use)
      #expect(segments(payload).flatMap(\.self) == bytes && payload.byteCount == bytes.count, "\(use)")
      if let buffer { gst_buffer_unref(buffer) }
    }
  }

  /// Another element writes into its last block: nothing of the buffer is kept.
  @Test func aBlockCannotBeMapped() throws {
    let buffer = try buffer([Self.slice, Self.slice])
    defer { gst_buffer_unref(buffer) }
    let blocks = (0..<2).map { gst_buffer_peek_memory(buffer, $0) }
    var map = GstMapInfo()
    #expect(gst_memory_map(blocks[1], &map, GST_MAP_WRITE) != 0)
    let payload = FramePayload()
    for _ in 0..<2 { #expect(!payload.refer(to: buffer, isMerged: false) && payload.partCount == 0) }
    #expect(buffer.pointee.mini_object.refcount == 1)
    gst_memory_unmap(blocks[1], &map)
    #expect(gst_memory_map(blocks[0], &map, GST_MAP_WRITE) != 0)
    gst_memory_unmap(blocks[0], &map)
    #expect(payload.refer(to: buffer, isMerged: false) && payload.partCount == 2)
    payload.clear()
    #expect(buffer.pointee.mini_object.refcount == 1 && isWritable(buffer))
  }

  /// Nothing of one use is in the next, whichever both are, and the memory that it referred to is free.
  @Test(arguments: Use.allCases) func usedAgain(after first: Use) throws {
    for second in Use.allCases {
      let fresh = FramePayload()
      let buffers = [try fill(fresh, second)].compactMap(\.self)
      let payload = bench.output.takePayload(.frame)
      let former = try fill(payload, first)
      bench.output.giveBack(payload)
      if let former {
        #expect(former.pointee.mini_object.refcount == 1 && isWritable(former), "\(first)")
        gst_buffer_unref(former)
      }
      #expect(bench.output.takePayload(.repeated) === payload)
      #expect(payload.segmentCount == 0 && payload.byteCount == 0 && !payload.isKeyFrame, "\(first)")
      let hasEncoding = payload.encoding != nil
      #expect(!hasEncoding, "\(first)")
      let present = try fill(payload, second)
      #expect(segments(payload) == segments(fresh) && payload.byteCount == fresh.byteCount, "\(first), \(second)")
      #expect(payload.partCount == fresh.partCount && payload.isKeyFrame == fresh.isKeyFrame, "\(first), \(second)")
      bench.output.giveBack(payload)
      fresh.clear()
      for buffer in buffers + [present].compactMap(\.self) { gst_buffer_unref(buffer) }
    }
  }

  /// It is counted once, by its kind and whether it was written; that it was encoded counts in any case.
  @Test(arguments: [FramePayload.Kind.frame, .repeated, .notice], [true, false])
  func released(_ kind: FramePayload.Kind, wasSent: Bool) throws {
    bench.sink.count { $0.frameArrived() }
    let payload = bench.output.takePayload(kind)
    let buffer = try fill(payload, .packets)
    payload.encoding = FramePayload.Encoding(time: .milliseconds(1), isForced: false)
    let byteCount = UInt64(payload.byteCount)
    for _ in 0..<2 { payload.release(wasSent: wasSent) }
    if let buffer {
      #expect(buffer.pointee.mini_object.refcount == 1)
      gst_buffer_unref(buffer)
    }
    let counters = bench.sink.counters
    #expect(counters.framesSent == (kind == .frame && wasSent ? 1 : 0))
    #expect(counters.dropped(.discarded) == (kind == .frame && !wasSent ? 1 : 0))
    #expect(counters.framesQueued == (kind == .frame ? 0 : 1))
    #expect(counters.framesRepeated == (kind == .repeated && wasSent ? 1 : 0))
    #expect(counters.noticeFramesSent == (kind == .notice && wasSent ? 1 : 0))
    #expect(counters.videoBytesSent == (wasSent ? byteCount : 0) && counters.nalUnitsLeftOut == (wasSent ? 1 : 0))
    #expect(counters.encodings.count == 1)
    #expect(bench.sink.state.withLock { $0.payloads.count } == 1)
  }
}
