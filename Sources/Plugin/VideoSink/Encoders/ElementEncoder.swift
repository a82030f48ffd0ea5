import GStreamerKit
import H264
import SDLLink
import X264Encoder

/// Encodes with an encoder element.
///
/// Time stamps count pictures at the rate that it was opened with, not real time, so that it spends its bitrate on that
/// many pictures, as libx264 does. Most elements without look-ahead give an access unit during the push or soon after
/// it; elements that always hold pictures back are not waited for again.
final class ElementEncoder: PictureEncoder {
  /// How long the first picture may take: hardware is set up with it.
  private static let openingTime = Duration.milliseconds(500)
  /// How long another one may take at most.
  private static let longestWait = Duration.milliseconds(100)
  /// An element that holds back more pictures is of no use for a live stream.
  private static let maximumHeld = 8
  private static let drainingTime = Duration.seconds(1)
  /// After so many repetitions without a change the rate control has nothing left to improve.
  private static let settledCount = 5

  /// If a change of the bitrate makes a key frame, changes by less than a quarter wait for the next one.
  private static let costlyShare = 4

  private struct Held {
    var number: Int64
    var time: GstClockTime
  }

  let settings: EncoderSettings
  private(set) var isSettled = false
  private let kind: EncoderElement
  private let element: DrivenElement
  private let output: EncoderOutput
  private var rates: EncoderRates
  /// The bitrate that was set on the element last, in kbit/s.
  private var presentBitrate: Int
  /// The bitrate to set with the next key frame.
  private var wantedBitrate: Int
  private let frameDuration: GstClockTime
  /// The next access unit with a picture.
  private var ready: Buffer?
  /// The pictures in the element, in their order.
  private var held: [Held] = []
  /// How many of them it holds back.
  private var expectedHeld = 0
  /// The offset that the element adds to time stamps, such as x264enc.
  private var timeOffset: GstClockTime?
  private var parameterSets = ParameterSets()
  private var picturesSinceKeyFrame = 0
  private var lastKeyFrame: Duration?
  private var unchangedCount = 0
  private var hasEnded = false

  /// Makes and starts the element.
  ///
  /// - Parameters:
  ///   - listener: the sink, which passes messages to the application.
  ///   - setUp: gets the element before it starts.
  init(
    _ kind: EncoderElement, _ settings: EncoderSettings, _ info: GstVideoInfo,
    for listener: UnsafeMutablePointer<GstElement>, setUp: (UnsafeMutablePointer<GstElement>) -> Void
  ) throws(EncoderError) {
    let output = EncoderOutput(for: listener)
    self.kind = kind
    self.settings = settings
    self.output = output
    element = try DrivenElement(kind, settings, output)
    rates = settings.rates
    presentBitrate = settings.bitrate
    wantedBitrate = settings.bitrate
    frameDuration = gst_util_uint64_scale(
      1_000_000_000, guint64(settings.frameRate.denominator), guint64(settings.frameRate.numerator))
    let assignments = kind.settings(
      bitrate: settings.bitrate, keyFrameInterval: Int(settings.keyFrameDistance), property)
    for setting in assignments { gst_util_set_object_arg(object, setting.property, setting.value) }
    setUp(element.pointer)
    var info = info
    info.fps_n = gint(clamping: settings.frameRate.numerator)
    info.fps_d = gint(clamping: settings.frameRate.denominator)
    guard let caps = Caps(owning: gst_video_info_to_caps(&info)) else { throw .encodingFailed }
    try element.start(caps)
  }

  private var object: UnsafeMutablePointer<GObject> { element.pointer.cast() }

  private func property(_ name: String) -> EncoderProperty? { EncoderProperty(object, name) }

  func setRates(_ rates: EncoderRates) throws(EncoderError) {
    // The bitrate that gives each picture its bits at the frame rate that it was opened with.
    let ratio = settings.frameRate.value / max(rates.frameRate.value, 0.001)
    let bitrate = Int(min(max((Double(rates.bitrate) * ratio).rounded(), 1), 2_000_000))
    guard kind.change(bitrate: bitrate, property) != nil else {
      throw .reconfigurationFailed
    }
    self.rates = rates
    wantedBitrate = bitrate
    let isSmall = abs(bitrate - presentBitrate) < presentBitrate / Self.costlyShare
    if !isSmall || kind.bitrate?.isChangeCostly != true { applyBitrate() }
  }

  private func applyBitrate() {
    guard wantedBitrate != presentBitrate,
      let change = kind.change(bitrate: wantedBitrate, property)
    else { return }
    gst_util_set_object_arg(object, change.property, change.value)
    presentBitrate = wantedBitrate
  }

  /// As ``X264Encoder/X264Encoder/isKeyFrameDue(at:)``.
  func isKeyFrameDue(at time: Duration?) -> Bool {
    var present = settings
    present.frameRate = rates.frameRate
    if picturesSinceKeyFrame >= Int(present.keyFrameDistance) { return true }
    guard settings.keyFrameInterval == 0, let time, let lastKeyFrame else { return false }
    return time - lastKeyFrame >= EncoderSettings.automaticKeyFrameInterval
  }
}

// MARK: Pictures

extension ElementEncoder {
  func put(
    _ picture: UnsafeMutablePointer<GstBuffer>, _ info: GstVideoInfo, number: Int64, at now: Duration,
    as kind: PictureKind
  ) throws(EncoderError) -> Bool {
    guard held.count < Self.maximumHeld else {
      throw .element("\(self.kind.name) has no output for the last \(held.count) pictures.")
    }
    // The copy shares the pixels. The memory goes back to its pool only when the element has released it.
    guard let copy = Buffer(owning: gst_buffer_copy(picture)) else { return false }
    gst_buffer_add_parent_buffer_meta(copy.pointer, picture)
    let isFirst = lastKeyFrame == nil
    let time = GstClockTime(clamping: number).multipliedReportingOverflow(by: frameDuration).partialValue
    copy.pointer.pointee.pts = time
    copy.pointer.pointee.dts = .max
    copy.pointer.pointee.duration = frameDuration
    var asksForKeyFrame = false
    if isFirst || kind == .keyFrame || kind == .frame && isKeyFrameDue(at: now) {
      applyBitrate()
      asksForKeyFrame = !isFirst
      lastKeyFrame = now
      picturesSinceKeyFrame = 0
    }
    if kind != .repetition { picturesSinceKeyFrame += 1 }
    held.append(Held(number: number, time: time))
    let result = try element.push(copy, asKeyFrame: asksForKeyFrame)
    let wait = isFirst ? Self.openingTime : min(.nanoseconds(Int64(clamping: frameDuration)), Self.longestWait)
    if result == GST_FLOW_OK { output.wait(for: held.count - expectedHeld, until: MonotonicClock.now + wait) }
    expectedHeld = max(held.count - output.count, 0)
    if let failure = output.failure { throw .element("\(self.kind.name) has failed: \(failure)") }
    guard result == GST_FLOW_OK else {
      throw .element("\(self.kind.name) has refused a picture (\(String(cString: gst_flow_get_name(result)))).")
    }
    return true
  }

  var nextNumber: Int64? {
    prepareNext()
    guard let time = ready?.pointer.pointee.pts else { return nil }
    // The last case is more access units than pictures.
    return held.isEmpty ? 0 : held[index(ofTime: time)].number
  }

  /// Skips access units without a picture, such as parameter sets alone: they go in front of the next key frame.
  private func prepareNext() {
    while ready == nil, let buffer = output.takeFirst() {
      let hasPicture = Self.withBytes(of: buffer) { bytes in
        _ = parameterSets.update(from: bytes)
        return AccessUnitSummary(scanning: bytes).hasPicture
      }
      if hasPicture == true { ready = consume buffer }
    }
  }

  /// The index of an access unit's picture: the oldest, if the time does not tell.
  private func index(ofTime time: GstClockTime) -> Int {
    guard let first = held.first, time != .max else { return 0 }
    let offset = timeOffset ?? time &- first.time
    return held.firstIndex { $0.time == time &- offset } ?? 0
  }

  func take(into payload: FramePayload) -> Int64? {
    guard let number = nextNumber, let buffer = ready.take() else { return nil }
    let time = buffer.pointer.pointee.pts
    if !held.isEmpty {
      let index = index(ofTime: time)
      if timeOffset == nil, time != .max { timeOffset = time &- held[index].time }
      // The element has dropped the pictures before it.
      held.removeSubrange(...index)
    }
    return Self.withBytes(of: buffer) { bytes in store(bytes, in: payload) }.map { number }
  }

  private func store(_ bytes: UnsafeRawBufferPointer, in payload: FramePayload) {
    let unit = AccessUnitSummary(scanning: bytes)
    let settles = SettledUnit.changesNothing(byteCount: bytes.count, unitCount: 1, isKeyFrame: unit.isKeyFrame)
    unchangedCount = settles ? unchangedCount + 1 : 0
    isSettled = unchangedCount >= Self.settledCount
    // A decoder may begin at any key frame.
    if unit.isKeyFrame, !unit.hasParameterSets, let front = parameterSets.bytes {
      (front + bytes).withUnsafeBytes { storeDescribed($0, isKeyFrame: true, in: payload) }
    } else {
      storeDescribed(bytes, isKeyFrame: unit.isKeyFrame, in: payload)
    }
  }

  private func storeDescribed(_ bytes: UnsafeRawBufferPointer, isKeyFrame: Bool, in payload: FramePayload) {
    if isKeyFrame, let described = colours?.added(to: bytes) {
      described.withUnsafeBytes { payload.storeUnits(of: $0, isKeyFrame: true) }
    } else {
      payload.storeUnits(of: bytes, isKeyFrame: isKeyFrame)
    }
  }

  /// Some elements, such as openh264enc, do not write them into the stream.
  private var colours: ColourDescription? {
    settings.color.map { color in
      ColourDescription(
        primaries: UInt8(clamping: color.colourPrimaries),
        transferCharacteristics: UInt8(clamping: color.transferCharacteristics),
        matrixCoefficients: UInt8(clamping: color.matrixCoefficients), isFullRange: color.isFullRange)
    }
  }

  private static func withBytes<Result>(
    of buffer: borrowing Buffer, _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result? {
    var map = GstMapInfo()
    guard gst_buffer_map(buffer.pointer, &map, GST_MAP_READ) != 0 else { return nil }
    defer { gst_buffer_unmap(buffer.pointer, &map) }
    return body(UnsafeRawBufferPointer(start: map.data, count: Int(map.size)))
  }

  func drain() {
    guard !held.isEmpty, !hasEnded else { return }
    hasEnded = true
    element.end()
    output.wait(for: .max, until: MonotonicClock.now + Self.drainingTime)
  }
}
