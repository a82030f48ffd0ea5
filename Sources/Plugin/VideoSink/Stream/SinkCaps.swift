import GStreamerKit
import SDLApp

/// Caps: the head unit's formats, preferred first, and upstream's choice.
extension VideoSink {
  /// The answer to a CAPS query; nil, which stands for the template, until the head unit has announced its displays.
  func caps(filter: UnsafeMutablePointer<GstCaps>?) -> UnsafeMutablePointer<GstCaps>? {
    let encoder = encoderChoice
    guard var caps = acceptedCaps() else { return unknownCaps(encoder, filter) }
    // Encoders and files in another size get an error that names the cause, instead of not being linked. In READY
    // players ask, which can choose another format.
    if stream != nil, gst_pad_has_current_caps(pad) == 0 {
      caps.merge(SinkCaps.h264OfAnySize)
      // The same for decoders, which are linked before a stream begins; what upstream chooses after that is in the sizes.
      if !hasStreamBegun { caps.merge(Caps.template(of: pad)) }
    }
    caps = EncoderChoice.restrict(caps, to: encoder)
    guard let filter else { return caps.take() }
    let wanted = Caps(retaining: filter)
    let common = wanted.intersected(with: caps)
    // Upstream may have chosen its first caps before the head unit reported its sizes. Transform elements ask about
    // them with a filter, and an empty intersection would end the pipeline. So they pass, and upstream is asked for
    // others when they come.
    guard common.isEmpty, gst_pad_has_current_caps(pad) == 0 else { return common.take() }
    return wanted.intersected(with: Caps.template(of: pad)).take()
  }

  /// Before the head unit has announced its displays. With an encoder that does not take all of the template, upstream
  /// could choose a format that can't be encoded.
  private func unknownCaps(
    _ encoder: EncoderChoice?, _ filter: UnsafeMutablePointer<GstCaps>?
  ) -> UnsafeMutablePointer<GstCaps>? {
    // Without an encoder, an error says what to install.
    guard let encoder, encoder != .linked else { return nil }
    let caps = EncoderChoice.restrict(Caps.template(of: pad), to: encoder)
    guard let filter else { return caps.take() }
    let common = Caps(retaining: filter).intersected(with: caps)
    // An error then names the cause.
    return common.isEmpty ? nil : common.take()
  }

  private var hasStreamBegun: Bool {
    guard let event = gst_pad_get_sticky_event(pad, GST_EVENT_STREAM_START, 0) else { return false }
    gst_event_unref(event)
    return true
  }

  private func acceptedCaps() -> Caps? {
    let maximumRate = settings.withLock { $0.maxFrameRate }
    if let caps = stream?.acceptedCaps(maximumRate: maximumRate) { return caps }
    // Before the stream has chosen, or in READY, in which the app is registered already.
    guard let video = app?.status.session.videoCapability else { return nil }
    let displays = VideoDisplay.displays(of: video.capability, screen: video.fallbackSize).filter { !$0.isFallback }
    return displays.isEmpty ? nil : SinkCaps.offer(displays, maximumRate: maximumRate, turn)
  }

  func answer(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    CapabilityQuery.answer(query, stream?.displaysOfInput)
  }

  /// Anything that the sink could ever take stays acceptable: caps of the former size may be in flight while the head
  /// unit's answer arrives, and refusing them would end the pipeline.
  func accepts(_ caps: UnsafeMutablePointer<GstCaps>) -> Bool {
    let isPossible = Caps(retaining: caps).isSubset(of: Caps.template(of: pad)) || InputCaps.isH264(caps)
    return isPossible && canBegin(with: caps)
  }

  /// Players ask in READY, before they choose between passing H.264 on and decoding it, which they do as long as the
  /// sizes are unknown. From PAUSED on, an error says why it can't be used.
  private func canBegin(with caps: UnsafeMutablePointer<GstCaps>) -> Bool {
    guard app != nil, stream == nil, StructureView(caps: caps, 0)?.hasName("video/x-h264") == true else { return true }
    guard let accepted = acceptedCaps() else { return false }
    return !Caps(retaining: caps).intersected(with: accepted).isEmpty
  }
}

extension VideoStream {
  fileprivate func acceptedCaps(maximumRate: Fraction?) -> Caps? {
    let (accepted, rejected, supportsNone, isInputRefused) = state.withLock { negotiation in
      (
        negotiation.acceptedDisplays ?? [], negotiation.rejectedDisplays, negotiation.supportsNone,
        negotiation.isInputRefused
      )
    }
    if supportsNone { return tolerantCaps() }
    guard !accepted.isEmpty else { return nil }
    var caps = SinkCaps.offer(accepted + rejected, maximumRate: maximumRate, sink.turn)
    // If the head unit does not take upstream's present caps, they come last: upstream without another format keeps
    // them, and gets an error that names the cause, instead of a failed negotiation.
    if isInputRefused, let current = Caps.current(of: sink.pad) { caps.merge(current) }
    return caps
  }

  /// When the app supports none of the displays: any caps, so that the pipeline continues. The present caps come first.
  private func tolerantCaps() -> Caps {
    let template = Caps.template(of: sink.pad)
    guard var caps = Caps.current(of: sink.pad) else { return template }
    caps.merge(template)
    return caps
  }
}

enum SinkCaps {
  private static let formats = ["I420", "YV12", "NV12", "NV21"]
  /// The profiles of 8-bit 4:2:0; head units decode no others.
  static let profiles = ["constrained-baseline", "baseline", "main", "constrained-high", "progressive-high", "high"]

  private struct Offer: Equatable {
    var size: VideoSize
    var rate: Fraction
  }

  /// First the preference of head unit and app, then H.264 in the same sizes, as a byte stream first, then raw video
  /// with a higher rate, which the sink thins out, or without a pixel aspect ratio. Raw video is in the size that the
  /// display's becomes when it is turned; H.264 is not turned.
  static func offer(_ displays: [VideoDisplay], maximumRate: Fraction?, _ turn: PictureTurn) -> Caps {
    var offers: [Offer] = []
    for display in displays {
      guard let size = display.streamSize else { continue }
      let rate = EncoderTargets.frameRate(preferred: maximumRate, announced: display.frameRate)
      let offer = Offer(size: size, rate: rate)
      if !offers.contains(offer) { offers.append(offer) }
    }
    var caps = Caps()
    for offer in offers { caps.append(raw(turn.size(offer.size), upTo: offer.rate.terms, hasSquarePixels: true)) }
    for format in h264Formats {
      for offer in offers { caps.append(h264(format, offer.size)) }
    }
    for offer in offers {
      for hasSquarePixels in [true, false] {
        caps.append(raw(turn.size(offer.size), upTo: (.max, 1), hasSquarePixels: hasSquarePixels))
      }
    }
    return caps
  }

  private static func raw(
    _ size: VideoSize, upTo rate: Structure.FractionTerms, hasSquarePixels: Bool
  ) -> Structure {
    let structure = Structure("video/x-raw")
    structure.set("format", oneOf: formats)
    set(size, in: structure)
    structure.setFractionRange("framerate", from: (0, 1), to: rate)
    if hasSquarePixels { structure.setFraction("pixel-aspect-ratio", (1, 1)) }
    return structure
  }

  /// The H.264 of the template.
  static var h264OfAnySize: Caps {
    var caps = Caps()
    for format in h264Formats { caps.append(h264(format, nil)) }
    return caps
  }

  /// The values of `stream-format`: an encoder that can choose takes the first, which needs no conversion.
  private static let h264Formats = [["byte-stream"], ["avc", "avc3"]]

  private static func h264(_ formats: [String], _ size: VideoSize?) -> Structure {
    let structure = Structure("video/x-h264")
    if formats.count == 1 {
      structure.set("stream-format", formats[0])
    } else {
      structure.set("stream-format", oneOf: formats)
    }
    structure.set("alignment", "au")
    structure.set("profile", oneOf: profiles)
    if let size { set(size, in: structure) }
    return structure
  }

  private static func set(_ size: VideoSize, in structure: borrowing Structure) {
    structure.set("width", Int32(clamping: size.width))
    structure.set("height", Int32(clamping: size.height))
  }
}
