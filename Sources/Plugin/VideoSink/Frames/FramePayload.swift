import GStreamerKit
import H264
import SDLApp
import SDLAppLink
import SDLLink

/// One access unit: bytes of its own (from the encoder), then memory of a GstBuffer (H.264 input), either may be empty.
/// It is sent as it is, or as RTP packets that refer to it. NAL units with lengths in front are not copied either: the
/// buffer may be shared, with the base class and the branches of a tee, so nothing is written into it.
///
/// `@unchecked Sendable`: it is filled by the thread that has the frame path, then handed over through the queue's lock, and touched
/// by nothing else until it comes back, under the lock of the sink's state.
final class FramePayload: MediaPayload, @unchecked Sendable {
  private static let maximumBlocks = 8

  enum Kind {
    /// A frame that came from upstream.
    case frame
    /// The last picture once more.
    case repeated
    /// A picture of the background notice.
    case notice
  }

  /// How the picture was encoded; counted together with its outcome.
  struct Encoding {
    var time: Duration
    /// Upstream or the application has asked for a key frame.
    var isForced: Bool
  }

  private(set) var kind = Kind.frame
  /// Nil unless a picture from upstream was encoded here.
  var encoding: Encoding?

  /// The sink that counts the outcome. Held while in use, because a sink that is stopped in a callback on the
  /// connection thread does not wait for queued payloads.
  private var sink: VideoSink?
  private var storage = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 << 10, alignment: 16)
  private var storedCount = 0
  /// Bytes at the start of the storage that are left out.
  private var storedSkipped = 0
  private var buffer: UnsafeMutablePointer<GstBuffer>?
  private var maps = [GstMapInfo](repeating: GstMapInfo(), count: maximumBlocks)
  private var mapCount = 0
  /// Bytes at the start of the first block that are left out.
  private var skipped = 0
  /// The framing of the buffer; stored bytes have start codes.
  private var framing = NALUnitFraming.startCodes
  /// The NAL units of the buffer's only block, if they have lengths in front. Used again and again.
  private var units: [Range<Int>] = []
  /// Empty for an access unit that is sent as it is.
  private var packets = PacketBlocks()
  /// The next picture's delimiter is at the end; see ``moveDelimiter()``.
  private var endsWithDelimiter = false

  private(set) var isKeyFrame = false

  deinit {
    clear()
    storage.deallocate()
  }

  /// It is about to be filled.
  func begin(_ kind: Kind, for sink: VideoSink) {
    self.kind = kind
    self.sink = sink
  }

  /// Copies bytes in front of everything else.
  func store(_ bytes: UnsafeRawBufferPointer, isKeyFrame: Bool) {
    reserve(bytes.count)
    storage.copyMemory(from: bytes)
    storedCount = bytes.count
    self.isKeyFrame = isKeyFrame
  }

  /// Copies the NAL units of an access unit, each after a start code of four bytes, which is the only form that SDL's
  /// own libraries send. Encoders write shorter ones where the standard allows.
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

  /// Skips the first bytes of the buffer's first block, up to the start code or the length of a NAL unit.
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
  /// The part from a buffer must be one block.
  func packetize(with packetizer: inout RTPPacketizer, at time: Duration) -> Bool {
    let count = partCount
    for index in 0..<count {
      let (bytes, framing) = part(at: index)
      packets.append(
        packetizer.packets(of: bytes, framing: framing, at: time, endsAccessUnit: index == count - 1), of: bytes)
    }
    return packets.count > 0
  }

  /// Puts the delimiter that announces the next picture at the end, in place of its own at the beginning, which came
  /// with the picture before: so a decoder that reads a byte stream knows at once that this picture is complete, not
  /// only when the next one begins (H.264, 7.4.1.2.3).
  ///
  /// - Parameter isLast: whether no picture follows, and so no delimiter.
  func moveDelimiter(isLast: Bool) {
    let (bytes, framing) = part(at: 0)
    if let end = NALUnits(bytes, framing: framing).delimiterEnd {
      if storedCount > 0 { storedSkipped = end } else { skip(skipped + end) }
    }
    endsWithDelimiter = !isLast
  }

  /// The number of memory blocks of the access unit.
  var partCount: Int { (storedCount > 0 ? 1 : 0) + mapCount }

  /// The memory blocks of the access unit, in order.
  func part(at index: Int) -> (bytes: UnsafeRawBufferPointer, framing: NALUnitFraming) {
    var index = index
    if storedCount > 0 {
      if index == 0 { return (UnsafeRawBufferPointer(rebasing: storage[storedSkipped..<storedCount]), .startCodes) }
      index -= 1
    }
    let block = block(index)
    return (index == 0 ? UnsafeRawBufferPointer(rebasing: block[skipped...]) : block, framing)
  }

  var segmentCount: Int {
    if packets.count > 0 { return packets.count }
    let count = framing == .startCodes ? partCount : (storedCount > 0 ? 1 : 0) + 2 * units.count
    return endsWithDelimiter ? count + 1 : count
  }

  func segment(at index: Int) -> UnsafeRawBufferPointer {
    if packets.count > 0 { return packets[index] }
    if endsWithDelimiter, index == segmentCount - 1 { return Self.delimiter }
    guard framing != .startCodes else { return part(at: index).bytes }
    var index = index
    if storedCount > 0 {
      if index == 0 { return part(at: 0).bytes }
      index -= 1
    }
    return index.isMultiple(of: 2) ? Self.startCode : UnsafeRawBufferPointer(rebasing: block(0)[units[index / 2]])
  }

  // Written once, and never freed.
  nonisolated(unsafe) private static let startCode = constant([0, 0, 0, 1])
  /// Before pictures of any kind (H.264, 7.4.2.4).
  nonisolated(unsafe) private static let delimiter = constant([
    0, 0, 0, 1, NALUnitType.accessUnitDelimiter.rawValue, 0xf0,
  ])

  private static func constant(_ bytes: [UInt8]) -> UnsafeRawBufferPointer {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    memory.copyBytes(from: bytes)
    return UnsafeRawBufferPointer(memory)
  }

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
    let encoding = self.encoding
    let now = sink.time.now
    clear()
    sink.state.withLock { state in
      if let encoding { state.counters.encoded(encoding) }
      if wasSent {
        state.counters.sent(byteCount: byteCount, isKeyFrame: isKeyFrame, at: now)
        state.counters.nalUnitsLeftOut &+= UInt64(leftOutCount)
      }
      switch (kind, wasSent) {
      case (.frame, true): state.counters.frameSent()
      case (.frame, false): state.counters.frameDropped(.discarded)
      case (.repeated, true): state.counters.framesRepeated &+= 1
      case (.notice, true): state.counters.noticeFramesSent &+= 1
      case (.repeated, false), (.notice, false): break
      }
      state.payloads.append(self)
    }
  }

  /// Releases its references.
  func clear() {
    if let buffer {
      unmap(buffer)
      gst_buffer_unref(buffer)
    }
    buffer = nil
    sink = nil
    encoding = nil
    storedCount = 0
    storedSkipped = 0
    endsWithDelimiter = false
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

/// RTP packets as memory blocks to write one after the other: the prefix of each, then its part of the access unit,
/// without a copy.
struct PacketBlocks: ~Copyable {
  private static let stride = RTPPacket.maximumPrefixByteCount

  private var prefixes = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * stride, alignment: 16)
  /// The parts of the access unit. Used again and again, as are the prefixes.
  private var parts: [UnsafeRawBufferPointer] = []
  private var prefixByteCounts: [Int] = []
  private(set) var byteCount = 0
  /// NAL units that RTP can't carry.
  private(set) var leftOutCount = 0

  deinit {
    prefixes.deallocate()
  }

  /// Two for each packet.
  var count: Int { parts.count * 2 }

  subscript(_ index: Int) -> UnsafeRawBufferPointer {
    let packet = index / 2
    guard index.isMultiple(of: 2) else { return parts[packet] }
    let start = packet * Self.stride
    return UnsafeRawBufferPointer(rebasing: prefixes[start..<(start + prefixByteCounts[packet])])
  }

  /// Adds the packets of `accessUnit`, or of a part of one; it must stay valid while the blocks are in use.
  mutating func append(_ packets: RTPPackets, of accessUnit: UnsafeRawBufferPointer) {
    reserve(parts.count + packets.packetCount)
    for packet in packets {
      let start = parts.count * Self.stride
      prefixByteCounts.append(
        packet.writePrefix(to: UnsafeMutableRawBufferPointer(rebasing: prefixes[start..<(start + Self.stride)])))
      parts.append(UnsafeRawBufferPointer(rebasing: accessUnit[packet.payloadRange]))
    }
    byteCount += packets.byteCount
    leftOutCount += packets.leftOutCount
  }

  private mutating func reserve(_ packetCount: Int) {
    let byteCount = packetCount * Self.stride
    guard prefixes.count < byteCount else { return }
    let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount * 2, alignment: 16)
    larger.copyMemory(from: UnsafeRawBufferPointer(prefixes))
    prefixes.deallocate()
    prefixes = larger
  }

  mutating func removeAll() {
    parts.removeAll(keepingCapacity: true)
    prefixByteCounts.removeAll(keepingCapacity: true)
    byteCount = 0
    leftOutCount = 0
  }
}

/// The RTP packets of a video service: their numbers and times, which continue from one access unit to the next.
///
/// A value: it is kept only when the access unit that it was used for is queued, so that skipped numbers don't look
/// like a loss.
struct RTPStream {
  private var packetizer: RTPPacketizer
  /// Start of the service that the last access unit was for.
  private var epoch: UInt32 = 0
  /// Time of the last access unit, and when it was made.
  private var lastTime = Duration.zero
  private var lastMade: Duration?

  init() {
    var generator = SystemRandomNumberGenerator()
    packetizer = RTPPacketizer(using: &generator)
  }

  /// Turns the payload into packets; false when there is nothing in it.
  ///
  /// - Parameters:
  ///   - time: when to show the picture, in running time; nil for one without a time of its own, which gets the
  ///     distance of the arrivals.
  ///   - now: the present time.
  mutating func packetize(_ payload: FramePayload, for grant: VideoGrant, at time: Duration?, now: Duration) -> Bool {
    if epoch != grant.epoch {
      var generator = SystemRandomNumberGenerator()
      packetizer.restart(using: &generator)
      epoch = grant.epoch
    }
    let time = time ?? lastTime + (now - (lastMade ?? now))
    guard payload.packetize(with: &packetizer, at: time) else { return false }
    lastTime = time
    lastMade = now
    return true
  }
}
