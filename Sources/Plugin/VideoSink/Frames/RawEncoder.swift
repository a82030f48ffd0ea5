import GStreamerKit
import SDLApp
import X264Encoder

/// The user's settings of the encoder, without its rates.
struct RawEncoderSettings: Equatable, Sendable {
  /// `auto`, `x264`, or the name of an element.
  var name = "auto"
  var speedPreset = SpeedPreset.superfast
  /// Frames; 0 is automatic.
  var keyFrameInterval: UInt32 = 0
  /// 0 is automatic.
  var threads: UInt32 = 0
  var optionString = ""

  /// The encoder; nil if there is none.
  var choice: EncoderChoice? { try? EncoderChoice(name) }

  /// - Throws: when x264 can't be opened with the options, or head units could not decode its output; when the
  ///   requested encoder is not installed.
  func check() throws(ElementError) {
    // Without any, H.264 can still be passed on.
    let choice = EncoderChoice.isAutomatic(name) ? choice : try EncoderChoice(name)
    guard choice == .linked else { return }
    #if !WITHOUT_X264
      do {
        try X264Encoder.validate(optionString: optionString)
      } catch {
        throw .library(GST_LIBRARY_ERROR_SETTINGS, "The property option-string can't be used: \(error)")
      }
    #endif
  }
}

/// Encodes raw pictures as access units. When the format of the pictures changes, a new encoder is opened; other rates
/// are set on the open one.
///
/// An access unit may come later than its picture, whose frame counts as queued until then.
final class RawEncoder {
  /// A picture that was put into the encoder.
  struct Put {
    let number: Int64
    /// The counter of its frame.
    let kind: FramePayload.Kind
    let isKeyFrame: Bool
    let began: Duration
  }

  private let output: FrameOutput
  private let user: RawEncoderSettings
  private var encoder: (any PictureEncoder)?
  /// Nil until one is needed.
  private var candidates: EncoderCandidates?
  /// The encoder has taken a picture; some unusable encoders fail only then.
  private var isProven = false
  /// The next encoder does not take the pictures, and upstream has been asked for others.
  private(set) var awaitsOtherFormat = false
  /// The settings with which the encoder was opened, or that were set since.
  private(set) var settings: EncoderSettings?
  /// Used as the time stamp for x264, which must grow even where those of the buffers do not.
  private var pictureNumber: Int64 = 0
  /// The pictures whose access unit has not been taken.
  private var pending: [Put] = []
  /// The rates that were requested last.
  private var rates: EncoderRates?
  private var targets: EncoderTargets?

  init(_ output: FrameOutput) {
    self.output = output
    // They are fixed while a stream lasts.
    user = output.sink.settings.withLock { $0.encoder }
  }

  /// Whether the last picture would look no better if it were encoded again.
  var isSettled: Bool { encoder?.isSettled ?? false }

  var awaitsKeyFrame: Bool { pending.contains { $0.isKeyFrame } }

  /// Whether the next access unit belongs to a picture that was not put in last.
  var hasLate: Bool { encoder?.nextNumber.map { $0 < pictureNumber - 1 } ?? false }

  /// Whether an access unit can be taken.
  var hasFinished: Bool { encoder?.nextNumber != nil }

  var hasPending: Bool { !pending.isEmpty }

  /// When the last picture was put in.
  var lastPending: Duration? { pending.last?.began }

  func close() {
    encoder = nil
    settings = nil
    dropPending(pending.count, .discarded)
  }

  private func dropPending(_ count: Int, _ reason: FrameDropReason) {
    guard count > 0 else { return }
    output.dropQueued(reason, count: pending.prefix(count).count { $0.kind == .frame })
    pending.removeFirst(count)
  }

  /// With each picture: logs new targets, and lets upstream be faster again.
  func follow(_ targets: EncoderTargets) {
    guard targets != self.targets else { return }
    let former = self.targets
    self.targets = targets
    output.sink.log(GST_LEVEL_INFO, "aiming at \(targets.bitrate) kbit/s and \(targets.frameRate) frames per second")
    if let implausible = targets.implausibleBitrate, implausible != former?.implausibleBitrate {
      report(implausible)
    }
    // Too high a rate is thinned out without disturbing upstream; only upstream itself can raise the rate again.
    if let former, former.frameRate < targets.frameRate, let rate = output.inputRate, rate < targets.frameRate {
      output.announce(.reconfigure)
    }
  }

  private func report(_ implausible: ImplausibleBitrate) {
    let reason =
      implausible.uncompressed < implausible.announced
      ? "but even uncompressed its pictures need only \(implausible.uncompressed)"
      : "which its connection can hardly carry"
    output.sink.log(
      GST_LEVEL_WARNING,
      "The head unit announces \(implausible.announced) kbit/s, \(reason): it probably means bit/s.")
  }

  /// Puts a picture into the encoder; false when it can't be read, or the encoder takes only other formats.
  ///
  /// - Parameters:
  ///   - targets: used unless the link requires others.
  ///   - frame: how the picture is sent and counted.
  func put(
    _ picture: UnsafeMutablePointer<GstBuffer>, _ info: GstVideoInfo, _ targets: EncoderTargets, as kind: PictureKind,
    for frame: FramePayload.Kind
  ) throws(EncoderError) -> Bool {
    // The clock, not the time stamps: decoders start and recover in real time, however fast a file is read.
    let now = output.time.now
    if awaitsOtherFormat, let choice = candidates?.first { awaitsOtherFormat = !Self.takes(choice, info) }
    if awaitsOtherFormat { return false }
    let rates = output.adaptation.rates
    let wanted = encoderSettings(info, targets, followsLink: rates != nil)
    while true {
      do throws(EncoderError) {
        let encoder = try encoder(for: wanted, info, rates, kind, now: now)
        guard try encoder.put(picture, info, number: pictureNumber, at: now, as: kind) else { return false }
        break
      } catch {
        guard !isProven else { throw error }
        try passOver(error, info)
        if awaitsOtherFormat { return false }
      }
    }
    isProven = true
    pending.append(Put(number: pictureNumber, kind: frame, isKeyFrame: kind == .keyFrame, began: now))
    pictureNumber &+= 1
    return true
  }

  /// Puts the next access unit into a payload.
  ///
  /// - Returns: the picture that it shows; nil if there is none yet.
  func take(into payload: FramePayload) -> Put? {
    guard let number = encoder?.take(into: payload) else { return nil }
    // The encoder has dropped the pictures before it.
    dropPending(pending.firstIndex { $0.number >= number } ?? 0, .noPicture)
    guard let first = pending.first, first.number == number else {
      return Put(number: number, kind: .repeated, isKeyFrame: false, began: output.time.now)
    }
    return pending.removeFirst()
  }

  /// No picture follows for now. The encoder's remaining access units can be taken, and then it has to be closed.
  func drain() {
    encoder?.drain()
  }

  /// The encoder for the present input; the first picture of a new one is a key frame. After a change of rates only, a
  /// running encoder is kept until its next key frame; then one with the right frame rate in the stream's headers
  /// replaces it. Changes of the link never need a new encoder, since it is opened for the highest bitrate.
  private func encoder(
    for wanted: EncoderSettings, _ info: GstVideoInfo, _ linkRates: EncoderRates?, _ kind: PictureKind, now: Duration
  ) throws(EncoderError) -> any PictureEncoder {
    var rates = linkRates ?? wanted.rates
    if let limit = wanted.bufferSize { rates.bufferSize = min(rates.bufferSize ?? limit, limit) }
    if let encoder, let settings, settings.differsInRatesOnly(from: wanted) {
      if settings == wanted {
        if rates != self.rates { set(rates, encoder) }
        return encoder
      }
      let beginsAnew = kind == .keyFrame || (kind == .frame && encoder.isKeyFrameDue(at: now))
      // Rates above the stream's level need new headers, hence a new encoder.
      if !beginsAnew || wanted.frameRate == encoder.settings.frameRate, (try? encoder.setRates(rates)) != nil {
        self.settings = wanted
        note(rates)
        return encoder
      }
    }
    close()
    let opened = try open(wanted, info)
    encoder = opened
    settings = wanted
    note(wanted.rates)
    if rates != self.rates { set(rates, opened) }
    output.sink.log(GST_LEVEL_INFO, "encoding \(wanted.width)×\(wanted.height) at \(rates.bitrate) kbit/s")
    return opened
  }

  /// Replaces the present encoder by the next choice, if there is one.
  private func passOver(_ error: EncoderError, _ info: GstVideoInfo) throws(EncoderError) {
    guard var rest = candidates else { throw error }
    awaitsOtherFormat = try !rest.passOver(error) { Self.takes($0, info) }
    candidates = rest
    close()
    output.sink.log(GST_LEVEL_WARNING, "another encoder is tried: \(error)")
    if let next = rest.first { output.announce(.nextEncoder(next, takesFormat: !awaitsOtherFormat, error)) }
  }

  private static func takes(_ choice: EncoderChoice, _ info: GstVideoInfo) -> Bool {
    var info = info
    guard let caps = Caps(owning: gst_video_info_to_caps(&info)) else { return false }
    return EncoderChoice.rejectionReason(of: caps.pointer, by: choice) == nil
  }

  private func open(_ wanted: EncoderSettings, _ info: GstVideoInfo) throws(EncoderError) -> any PictureEncoder {
    if candidates == nil {
      do throws(ElementError) {
        candidates = EncoderCandidates(try EncoderChoice.all(user.name))
      } catch {
        throw .element(error.text)
      }
    }
    isProven = false
    switch candidates?.first {
    case nil:
      throw .element(EncoderChoice.nothingInstalled.text)
    case .linked:
      #if WITHOUT_X264
        throw .element("This build has no libx264.")
      #else
        return try LinkedEncoder(wanted)
      #endif
    case .element(let kind):
      let sink = output.sink
      sink.log(GST_LEVEL_INFO, "encoding with \(kind.name)")
      return try ElementEncoder(kind, wanted, info, for: sink.gstElement) { sink.setUpEncoder($0) }
    }
  }

  /// An encoder whose rates can't be changed, because of some options, keeps its rates.
  private func set(_ rates: EncoderRates, _ encoder: any PictureEncoder) {
    do {
      try encoder.setRates(rates)
      note(rates)
    } catch {
      self.rates = rates
      output.sink.log(GST_LEVEL_DEBUG, "the encoder's rates stay: \(error)")
    }
  }

  private func note(_ rates: EncoderRates) {
    self.rates = rates
    output.sink.count { $0.rates = rates }
  }

  private func encoderSettings(_ info: GstVideoInfo, _ targets: EncoderTargets, followsLink: Bool) -> EncoderSettings {
    var info = info
    let bitrate = followsLink ? targets.ceiling : targets.bitrate
    return EncoderSettings(
      width: Int(info.width), height: Int(info.height),
      frameRate: FrameRate(output.frameRate(targets)),
      pixelFormat: PixelFormat(cgst_video_info_format(&info)) ?? .i420,
      bitrate: bitrate, bufferSize: targets.bufferSize(upTo: bitrate), speedPreset: user.speedPreset,
      keyFrameInterval: Int(user.keyFrameInterval), threads: Int(user.threads),
      optionString: user.optionString, color: ColorDescription(info.colorimetry))
  }
}

extension FrameRate {
  init(_ fraction: Fraction) {
    self.init(numerator: fraction.numerator, denominator: fraction.denominator)
  }
}

extension EncoderSettings {
  fileprivate func differsInRatesOnly(from other: EncoderSettings) -> Bool {
    var same = other
    same.bitrate = bitrate
    same.bufferSize = bufferSize
    same.frameRate = frameRate
    return self == same
  }
}

extension Planes {
  /// The planes of a mapped frame; nil when one is missing.
  init?(_ frame: GstVideoFrame) {
    let stride = frame.info.stride
    guard let first = frame.data.0, let second = frame.data.1 else { return nil }
    self.init(
      Plane(base: first, stride: Int(stride.0)), Plane(base: second, stride: Int(stride.1)),
      frame.data.2.map { Plane(base: $0, stride: Int(stride.2)) })
  }
}

extension ColorDescription {
  /// GStreamer's colorimetry as H.273 numbers.
  fileprivate init(_ colorimetry: GstVideoColorimetry) {
    self.init(
      colourPrimaries: Int(gst_video_color_primaries_to_iso(colorimetry.primaries)),
      transferCharacteristics: Int(gst_video_transfer_function_to_iso(colorimetry.transfer)),
      matrixCoefficients: Int(gst_video_color_matrix_to_iso(colorimetry.matrix)),
      isFullRange: colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255)
  }
}

extension PixelFormat {
  /// GStreamer's formats; nil for those that the encoder does not take.
  init?(_ format: GstVideoFormat) {
    switch format {
    case GST_VIDEO_FORMAT_I420: self = .i420
    case GST_VIDEO_FORMAT_YV12: self = .yv12
    case GST_VIDEO_FORMAT_NV12: self = .nv12
    case GST_VIDEO_FORMAT_NV21: self = .nv21
    default: return nil
    }
  }
}
