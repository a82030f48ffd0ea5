import CPluginTypes
import GStreamerKit
import SDLApp
import SDLLink
import X264Encoder

/// Caps are the negotiation with upstream: what the head unit takes, preferred first.
extension VideoSink {
  private static let rawFormats = "format=(string){I420,YV12,NV12,NV21}"
  private static let h264 = "video/x-h264,stream-format=(string)byte-stream,alignment=(string)au"
  /// The profiles of 8-bit 4:2:0; head units decode no others.
  private static let profiles =
    "profile=(string){constrained-baseline,baseline,main,constrained-high,progressive-high,high}"

  /// The answer to a CAPS query; nil, which stands for the template, until the head unit has spoken.
  func getCaps(filter: UnsafeMutablePointer<GstCaps>?) -> UnsafeMutablePointer<GstCaps>? {
    let (accepted, rejected, isHopeless) = state.withLock { state in
      let rejections = state.insistedDisplay == nil ? state.choice?.rejections ?? [] : []
      return (state.acceptedDisplays ?? [], rejections.map(\.display), state.isHopeless)
    }
    guard !accepted.isEmpty || isHopeless else { return nil }
    // What was rejected comes last: ranges that have changed may already ask for it.
    guard
      let caps = isHopeless ? tolerantCaps() : gst_caps_from_string(capsText(accepted + rejected)).map(addingFlowing)
    else {
      return nil
    }
    guard let filter else { return caps }
    defer { gst_caps_unref(caps) }
    return gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST).map { toleratingFirst($0, filter) }
  }

  /// Upstream may have chosen its first caps before the head unit spoke. Transform elements ask about them with a filter, and
  /// nothing in common would end the pipeline; so they are let through, and upstream is asked for others when they come.
  private func toleratingFirst(
    _ common: UnsafeMutablePointer<GstCaps>, _ filter: UnsafeMutablePointer<GstCaps>
  ) -> UnsafeMutablePointer<GstCaps> {
    let pad = cgst_base_sink_pad(element)
    guard gst_caps_is_empty(common) != 0, gst_pad_has_current_caps(pad) == 0,
      let template = gst_pad_get_pad_template_caps(pad)
    else { return common }
    defer { gst_caps_unref(template) }
    guard let tolerated = gst_caps_intersect_full(filter, template, GST_CAPS_INTERSECT_FIRST) else { return common }
    gst_caps_unref(common)
    return tolerated
  }

  /// First what head unit and app prefer, then H.264 in the same sizes, then raw video that is faster, which the sink
  /// thins out, or does not tell the shape of its pixels.
  func capsText(_ displays: [VideoDisplay]) -> String {
    let wish = settings.withLock { $0.maxFrameRate }
    var known: Set<String> = []
    let streams = displays.compactMap { display -> (size: String, rate: String)? in
      guard let size = display.streamSize else { return nil }
      let rate = EncoderTargets.frameRate(preferred: wish, announced: display.frameRate)
      let stream = (
        size: "width=(int)\(size.width),height=(int)\(size.height)", rate: "\(rate.numerator)/\(rate.denominator)"
      )
      return known.insert("\(stream)").inserted ? stream : nil
    }
    let preferred = streams.map { size, rate in
      "video/x-raw,\(Self.rawFormats),\(size),framerate=(fraction)[0/1,\(rate)],pixel-aspect-ratio=(fraction)1/1"
    }
    let encoded = streams.map { "\(Self.h264),\(Self.profiles),\($0.size)" }
    let tolerated = streams.flatMap { size, _ in
      let text = "video/x-raw,\(Self.rawFormats),\(size),framerate=(fraction)[0/1,2147483647/1]"
      return ["\(text),pixel-aspect-ratio=(fraction)1/1", text]
    }
    return (preferred + encoded + tolerated).joined(separator: ";")
  }

  func answer(_ query: UnsafeMutablePointer<GstQuery>) -> Bool {
    if CapabilityQuery.answer(query, state.withLock { $0.knownDisplays }) { return true }
    guard query.pointee.type == GST_QUERY_ACCEPT_CAPS else {
      return gst_sdl_video_sink_parent_query(baseSink, query) != 0
    }
    // Anything that the sink could ever take stays acceptable: caps of the former size may be in flight while the
    // head unit's answer arrives, and refusing them would end the pipeline.
    var caps: UnsafeMutablePointer<GstCaps>?
    gst_query_parse_accept_caps(query, &caps)
    guard let caps, let template = gst_pad_get_pad_template_caps(cgst_base_sink_pad(element)) else { return false }
    defer { gst_caps_unref(template) }
    gst_query_set_accept_caps_result(query, gst_caps_is_subset(caps, template) != 0 || Self.lacksProfile(caps) ? 1 : 0)
    return true
  }

  /// H.264 whose caps do not tell the profile is believed.
  private static func lacksProfile(_ caps: UnsafeMutablePointer<GstCaps>) -> Bool {
    guard let structure = gst_caps_get_structure(caps, 0), gst_structure_has_field(structure, "profile") == 0,
      let h264 = gst_caps_from_string(h264)
    else { return false }
    defer { gst_caps_unref(h264) }
    return gst_caps_is_subset(caps, h264) != 0
  }

  func setCaps(_ caps: UnsafeMutablePointer<GstCaps>) -> Bool {
    turn.withTurn { changeInput(to: caps) }
  }

  private func changeInput(to caps: UnsafeMutablePointer<GstCaps>) -> Bool {
    guard let structure = gst_caps_get_structure(caps, 0) else { return false }
    let wasRaw = input.isRaw
    input.lastPicture.forget()
    input.unseen = nil
    if gst_structure_has_name(structure, "video/x-h264") != 0 {
      input.format = .h264
    } else {
      var info = GstVideoInfo()
      guard gst_video_info_from_caps(&info, caps) != 0 else { return false }
      warnAboutPixels(info)
      input.format = .raw(info)
    }
    if input.isRaw != wasRaw {
      input.needsKeyFrame = true
      input.closeEncoder()
    }
    input.frameRate = Self.frameRate(structure)
    input.rateMeter = FrameRateMeter()
    limitLateness()
    // Whoever is upstream may be new, and the first caps may come when the head unit has spoken already.
    choose(.caps)
    var width: gint = 0
    var height: gint = 0
    let hasSize =
      gst_structure_get_int(structure, "width", &width) != 0
      && gst_structure_get_int(structure, "height", &height) != 0
    setInputSize(hasSize ? VideoSize(Int(width), Int(height)) : input.encodedSize)
    log(GST_LEVEL_INFO, "input \(hasSize ? "\(width)×\(height)" : "of unknown size"), raw: \(input.isRaw)")
    return true
  }

  /// Nil for a variable rate. A maximum that is given with that is as good as a rate.
  private static func frameRate(_ structure: UnsafeMutablePointer<GstStructure>) -> Fraction? {
    for field in ["framerate", "max-framerate"] {
      var numerator: gint = 0
      var denominator: gint = 0
      if gst_structure_get_fraction(structure, field, &numerator, &denominator) != 0,
        let rate = Fraction(Int(numerator), Int(denominator))
      {
        return rate
      }
    }
    return nil
  }

  private func warnAboutPixels(_ info: GstVideoInfo) {
    guard info.par_n != info.par_d else { return }
    warn(
      .stream(
        GST_STREAM_ERROR_FORMAT,
        "The pixels of the input are not square (\(info.par_n)/\(info.par_d)), but the head unit's are: the picture is stretched. Put videoconvertscale before sdlvideosink."
      ))
  }

  /// `size` is nil for H.264 whose caps do not tell; its parameter sets will.
  func setInputSize(_ size: VideoSize?) {
    input.mismatch = nil
    let lostFrames = counters.withLock { $0.framesLost }
    state.withLock { state in
      state.inputSize = size
      state.isInputRaw = input.isRaw
      state.framesBeforeWish = 0
      // A size from before the head unit's last word is not the answer to that.
      if let size, state.accepts(size) == true {
        state.expectedSize = nil
        if size != state.resize.size { state.resize.begin(now: MonotonicClock.now, lostFrames: lostFrames) }
      }
    }
    updateWish()
  }

  /// While upstream sends what the head unit does not take, that comes last: upstream that has nothing else then goes on
  /// with it, and gets an error that says why, instead of ending the pipeline because nothing could be negotiated.
  private func addingFlowing(_ caps: UnsafeMutablePointer<GstCaps>) -> UnsafeMutablePointer<GstCaps> {
    guard state.withLock({ state in state.inputSize.map(state.accepts) == false }),
      let flowing = gst_pad_get_current_caps(cgst_base_sink_pad(element))
    else { return caps }
    return gst_caps_merge(caps, flowing) ?? caps
  }

  /// In nanoseconds.
  static let rawMaximumLateness = 100_000_000

  /// A late raw picture is better dropped; H.264 would be damaged by that, whatever the application wishes for raw.
  private func limitLateness() {
    guard !input.isRaw else { return restoreLateness() }
    if input.savedLateness == nil {
      input.savedLateness = (gst_base_sink_get_max_lateness(baseSink), gst_base_sink_is_qos_enabled(baseSink))
    }
    gst_base_sink_set_max_lateness(baseSink, -1)
    gst_base_sink_set_qos_enabled(baseSink, 0)
  }

  func restoreLateness() {
    guard let saved = input.savedLateness else { return }
    gst_base_sink_set_max_lateness(baseSink, saved.maximum)
    gst_base_sink_set_qos_enabled(baseSink, saved.isQoSEnabled)
    input.savedLateness = nil
  }

  /// Why caps that the core is about to refuse can't be used; nil when they can.
  static func objection(to caps: UnsafeMutablePointer<GstCaps>) -> ElementError? {
    guard let structure = gst_caps_get_structure(caps, 0), let name = gst_structure_get_name(structure) else {
      return nil
    }
    switch String(cString: name) {
    case "video/x-raw": return rawObjection(caps)
    case "video/x-h264":
      let format = gst_structure_get_string(structure, "stream-format").map { String(cString: $0) }
      let alignment = gst_structure_get_string(structure, "alignment").map { String(cString: $0) }
      guard format == "byte-stream", alignment == "au" else {
        return .stream(
          GST_STREAM_ERROR_FORMAT,
          "H.264 must come as a byte stream of whole access units, not as \(format ?? "unknown")/\(alignment ?? "unknown"): put h264parse before sdlvideosink."
        )
      }
      return profileObjection(structure)
    case let other:
      return .stream(
        GST_STREAM_ERROR_WRONG_TYPE,
        "\(other) can't be shown: sdlvideosink takes raw video (put videoconvert before it) and H.264 (h264parse).")
    }
  }

  private static func profileObjection(_ structure: UnsafeMutablePointer<GstStructure>) -> ElementError? {
    guard let profile = gst_structure_get_string(structure, "profile").map({ String(cString: $0) }),
      !profiles.dropFirst("profile=(string){".count).dropLast().split(separator: ",").contains(Substring(profile))
    else { return nil }
    return .stream(
      GST_STREAM_ERROR_FORMAT,
      "H.264 of the profile \(profile) can't be decoded by head units: put video/x-raw,format=I420 before the encoder, or ask it for constrained-baseline."
    )
  }

  private static func rawObjection(_ caps: UnsafeMutablePointer<GstCaps>) -> ElementError? {
    var info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, caps) != 0 else {
      return .stream(
        GST_STREAM_ERROR_FORMAT,
        "Raw video with incomplete caps can't be encoded: put videoconvertscale before sdlvideosink.")
    }
    let format = cgst_video_info_format(&info)
    guard PixelFormats.encoderFormat(format) != nil else {
      let name = gst_video_format_to_string(format).map { String(cString: $0) } ?? "this format"
      return .stream(
        GST_STREAM_ERROR_FORMAT,
        "\(name) can't be encoded: put videoconvert before sdlvideosink (it takes I420, YV12, NV12, NV21).")
    }
    guard info.interlace_mode == GST_VIDEO_INTERLACE_MODE_PROGRESSIVE else {
      return .stream(
        GST_STREAM_ERROR_FORMAT, "Interlaced video can't be shown by a head unit: put deinterlace before sdlvideosink.")
    }
    guard info.width.isMultiple(of: 2), info.height.isMultiple(of: 2), min(info.width, info.height) >= 16,
      max(info.width, info.height) <= 8192,
      EncoderSettings.canEncode(width: Int(info.width), height: Int(info.height))
    else {
      return .stream(
        GST_STREAM_ERROR_FORMAT,
        "\(info.width)×\(info.height) can't be encoded, sides must be even and between 16 and 8192, and the area at most that of H.264 level 6.2: put videoconvertscale before sdlvideosink."
      )
    }
    return nil
  }
}
