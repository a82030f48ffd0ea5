import GStreamerKit
import H264
import SDLLink

extension PayloadPool<FramePayload> {
  /// An empty payload that reports to `sink` what becomes of it.
  func take(for sink: VideoSink, kind: FramePayload.Kind = .frame) -> FramePayload {
    let payload = take { FramePayload() }
    payload.sink = sink
    payload.kind = kind
    return payload
  }
}

/// One access unit: bytes of its own (from the encoder), then memory of a GstBuffer (H.264 input), either may be empty.
/// It is sent as it is, or as RTP packets that refer to it. NAL units with lengths in front are sent from where they are too:
/// the buffer may belong to others as well, such as the base class and the branches of a tee, so nothing is written into it.
///
/// `@unchecked Sendable`: it is filled by the streaming thread, then handed over through the queue's lock, and touched
/// by nobody else until it comes back through the pool's.
final class FramePayload: ReusablePayload, @unchecked Sendable {
  private static let maximumBlocks = 8

  /// What is in it.
  enum Kind {
    /// A frame that came from upstream.
    case frame
    /// The last picture once more.
    case repeated
    /// A picture of the background notice.
    case notice
  }

  fileprivate var kind = Kind.frame

  /// Where to count what became of it. Held while in use, because a sink that is stopped in a callback of the
  /// connection's own thread does not wait for what is queued.
  fileprivate var sink: VideoSink?
  private var storage = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 16)
  private var storedCount = 0
  private var buffer: UnsafeMutablePointer<GstBuffer>?
  private var maps = [GstMapInfo](repeating: GstMapInfo(), count: maximumBlocks)
  private var mapCount = 0
  /// Bytes at the start of the first block that are left out.
  private var skipped = 0
  /// Of the buffer; what is stored has start codes.
  private var framing = NALUnitFraming.startCodes
  /// The NAL units of the buffer's only block, if they have lengths in front. Used again and again.
  private var units: [Range<Int>] = []
  /// Empty for an access unit that is sent as it is.
  private var packets = PacketBlocks()

  private(set) var isKeyFrame = false

  deinit {
    clear()
    storage.deallocate()
  }

  /// Copies bytes in front of everything else.
  func store(_ bytes: UnsafeRawBufferPointer, isKeyFrame: Bool) {
    reserve(bytes.count)
    storage.copyMemory(from: bytes)
    storedCount = bytes.count
    self.isKeyFrame = isKeyFrame
  }

  /// Copies the NAL units of an access unit, each behind a start code of four bytes, which is the only form that SDL's
  /// own libraries send. Encoders write shorter ones where they may.
  func storeUnits(of accessUnit: UnsafeRawBufferPointer, isKeyFrame: Bool) {
    // A start code of three bytes and a unit of one become five.
    reserve(accessUnit.count + accessUnit.count / 4 + 1)
    storedCount = 0
    for unit in AnnexB(accessUnit) {
      storage.storeBytes(of: UInt32(1).bigEndian, toByteOffset: storedCount, as: UInt32.self)
      UnsafeMutableRawBufferPointer(rebasing: storage[(storedCount + 4)...])
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: accessUnit[unit.range]))
      storedCount += 4 + unit.range.count
    }
    self.isKeyFrame = isKeyFrame
  }

  private func reserve(_ byteCount: Int) {
    guard storage.count < byteCount else { return }
    storage.deallocate()
    storage = .allocate(byteCount: byteCount * 2, alignment: 16)
  }

  /// Refers to the buffer's memory; false when it can't be mapped. Several blocks are copied into one if there are very
  /// many or `isMerged` says so, or if the NAL units have lengths in front: a unit may go on in the next block.
  func refer(
    to buffer: UnsafeMutablePointer<GstBuffer>, framing: NALUnitFraming = .startCodes, isMerged merges: Bool
  ) -> Bool {
    let count = Int(gst_buffer_n_memory(buffer))
    if count > Self.maximumBlocks || (count > 1 && (merges || framing != .startCodes)) {
      // Mapping the whole buffer merges the blocks.
      guard gst_buffer_map(buffer, &maps[0], GST_MAP_READ) != 0 else { return false }
      isMerged = true
      mapCount = 1
    } else {
      for index in 0..<count {
        guard let memory = gst_buffer_peek_memory(buffer, guint(index)),
          gst_memory_map(memory, &maps[index], GST_MAP_READ) != 0
        else {
          unmap(buffer)
          return false
        }
        mapCount += 1
      }
    }
    gst_buffer_ref(buffer)
    self.buffer = buffer
    self.framing = framing
    if framing != .startCodes { units.append(contentsOf: NALUnits(firstBlock, framing: framing).lazy.map(\.range)) }
    return true
  }

  private var isMerged = false

  /// The first block of the buffer, which holds the beginning of the access unit.
  var firstBlock: UnsafeRawBufferPointer { mapCount > 0 ? block(0) : UnsafeRawBufferPointer(start: nil, count: 0) }

  /// Leaves out the first bytes of the buffer's first block, up to the start code or the length of a NAL unit.
  func skip(_ count: Int) {
    skipped = min(count, firstBlock.count)
    units.removeAll { $0.lowerBound < count }
  }

  func markKeyFrame() {
    isKeyFrame = true
  }

  private func block(_ index: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: maps[index].data, count: Int(maps[index].size))
  }

  /// From now on the segments are RTP packets. False when there is no NAL unit in the access unit.
  ///
  /// What comes from a buffer must be one block.
  func packetize(with packetizer: inout RTPPacketizer, at time: Duration) -> Bool {
    let count = partCount
    for index in 0..<count {
      let (bytes, framing) = part(at: index)
      packets.append(
        packetizer.packets(of: bytes, framing: framing, at: time, endsAccessUnit: index == count - 1), of: bytes)
    }
    return packets.count > 0
  }

  /// How many places the access unit lies in.
  var partCount: Int { (storedCount > 0 ? 1 : 0) + mapCount }

  /// The access unit in one of its places, in order.
  func part(at index: Int) -> (bytes: UnsafeRawBufferPointer, framing: NALUnitFraming) {
    var index = index
    if storedCount > 0 {
      if index == 0 { return (UnsafeRawBufferPointer(rebasing: storage[0..<storedCount]), .startCodes) }
      index -= 1
    }
    let block = block(index)
    return (index == 0 ? UnsafeRawBufferPointer(rebasing: block[skipped...]) : block, framing)
  }

  var segmentCount: Int {
    if packets.count > 0 { return packets.count }
    return framing == .startCodes ? partCount : (storedCount > 0 ? 1 : 0) + 2 * units.count
  }

  func segment(at index: Int) -> UnsafeRawBufferPointer {
    if packets.count > 0 { return packets[index] }
    guard framing != .startCodes else { return part(at: index).bytes }
    var index = index
    if storedCount > 0 {
      if index == 0 { return part(at: 0).bytes }
      index -= 1
    }
    return index.isMultiple(of: 2) ? Self.startCode : UnsafeRawBufferPointer(rebasing: block(0)[units[index / 2]])
  }

  // Written once, and never freed.
  nonisolated(unsafe) private static let startCode: UnsafeRawBufferPointer = {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 4, alignment: 4)
    bytes.storeBytes(of: UInt32(1).bigEndian, as: UInt32.self)
    return UnsafeRawBufferPointer(bytes)
  }()

  var byteCount: Int {
    if packets.count > 0 { return packets.byteCount }
    var count = 0
    for index in 0..<segmentCount { count += segment(at: index).count }
    return count
  }

  func release(wasSent: Bool) {
    guard let sink else { return }
    let isKeyFrame = self.isKeyFrame
    let byteCount = self.byteCount
    let leftOutCount = packets.leftOutCount
    let now = MonotonicClock.now
    sink.counters.withLock { counters in
      if wasSent {
        counters.sent(byteCount: byteCount, isKeyFrame: isKeyFrame, at: now)
        counters.nalUnitsLeftOut &+= UInt64(leftOutCount)
      }
      switch (kind, wasSent) {
      case (.frame, true): counters.frameSent()
      case (.frame, false): counters.frameDropped(.discarded)
      case (.repeated, true): counters.framesRepeated += 1
      case (.notice, true): counters.noticeFramesSent += 1
      case (.repeated, false), (.notice, false): break
      }
    }
    sink.payloads.giveBack(self)
  }

  func clear() {
    if let buffer {
      unmap(buffer)
      gst_buffer_unref(buffer)
    }
    buffer = nil
    sink = nil
    storedCount = 0
    skipped = 0
    framing = .startCodes
    units.removeAll(keepingCapacity: true)
    packets.removeAll()
    isKeyFrame = false
  }

  private func unmap(_ buffer: UnsafeMutablePointer<GstBuffer>) {
    if isMerged {
      gst_buffer_unmap(buffer, &maps[0])
    } else {
      for index in 0..<mapCount { gst_memory_unmap(maps[index].memory, &maps[index]) }
    }
    isMerged = false
    mapCount = 0
  }
}
