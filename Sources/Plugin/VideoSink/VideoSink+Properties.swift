import GStreamerKit
import SDLApp
import X264Encoder

extension VideoSink {
  typealias Settings = VideoSinkSettings

  static let properties = PropertyList<VideoSink>(
    // The app, its head unit, and encryption.
    Property.app + Property.encryption,
    .rpcNotifications,
    .policyUpdates,
    .unsigned(
      "legacy-start-delay", \.app.legacyStartDelay, 0...60_000, "Legacy start delay",
      """
      Pause before a start of video on a head unit without a video capability, which may stay black otherwise, in \
      milliseconds
      """,
      .mutableReady),
    .secondaryTransport,
    .connectionState,
    .headUnit,
    .permissions,
    .transports,
    .enumeration(
      "hmi-level", default: HMILevel.none, "HMI level",
      "How prominent the app is on the head unit; video is shown in full and limited",
      get: { $0.app?.status.level ?? .none }),
    // When video is sent.
    .enumeration(
      "app-state", \.appState, "App state",
      """
      How the app stands to its user: video is sent in foreground and regaining; in resigning the background notice, \
      then nothing, as in background
      """,
      .mutablePlaying, changed: { $0.stream?.applyAppState() }),
    .boolean(
      "restart-on-foreground", \.app.restartsOnForeground, "Restart on foreground",
      "When the app comes back to the foreground, end the video service and start it anew instead of using it on",
      .mutableReady),
    .enumeration(
      "suspend-policy", \.suspendPolicy, "Suspend policy",
      "What happens to frames while driver or app do not want video", .mutableReady),
    .enumeration(
      "resize-policy", \.resizePolicy, "Resize policy",
      """
      What happens when the head unit resizes the picture of a stream that has started: keep lasts until the service \
      ends, also in the background; a connection made anew may bring a resize as well
      """,
      .mutableReady),
    .enumeration(
      "stream-state", default: StreamState.stopped, "Stream state", "How far the video stream has come",
      get: { $0.stream?.streamState ?? .stopped }),
    // How it is encoded and carried.
    .text(
      "video-formats", \.videoFormats, "Video formats",
      """
      How H.264 may be carried, in order of preference: raw, rtp, or both with a comma; what the head unit does not \
      list is left out. Unset: the head unit's order
      """,
      .mutableReady, parse: VideoFormatList.parse, text: { $0?.text }),
    .unsigned(
      "bitrate", \.bitrate, 0...UInt32(EncoderSettings.bitrateRange.upperBound), "Bitrate",
      """
      Bitrate of raw video once encoded, in kbit/s; 0 is automatic. Never above what the head unit takes. Changes \
      apply to the next frame
      """,
      .mutablePlaying, changed: { $0.stream?.applySettings() }),
    .enumeration(
      "bitrate-policy", \.bitratePolicy, "Bitrate policy",
      "What bitrate=0 stands for. Changes apply to the next frame", .mutablePlaying,
      changed: { $0.stream?.applySettings() }),
    .unsigned(
      "target-bitrate", 1...UInt32(EncoderSettings.bitrateRange.upperBound),
      default: UInt32(EncoderTargets.defaultBitrate), "Target bitrate",
      "What an encoder should aim at, in kbit/s: bind the bitrate of one upstream to it (g_object_bind_property)",
      get: { $0.targetBitrate }),
    .boolean(
      "adaptive-bitrate", \.link.isAdaptive, "Adaptive bitrate",
      """
      With a live source, the bitrate follows what the link carries, from min-bitrate to bitrate; with bitrate=0 it \
      rises above its start as far as the picture and the head unit's maximum allow
      """,
      .mutablePlaying, changed: { $0.frameSettingsChanged() }),
    .unsigned(
      "min-bitrate", \.link.minimumBitrate, 1...UInt32(EncoderSettings.bitrateRange.upperBound), "Minimum bitrate",
      """
      Where the link carries less than this with adaptive-bitrate, in kbit/s, there are fewer pictures instead of \
      worse ones
      """,
      .mutablePlaying, changed: { $0.frameSettingsChanged() }),
    .unsigned(
      "max-latency", \.link.maximumLatency, 0...60_000, "Maximum latency",
      """
      How long a picture of a live source may be on the way, in milliseconds: while the link is not ready, the newest \
      one waits to be encoded. H.264 from upstream that would take three times as long is dropped up to the next key \
      frame. 0 is no bound
      """,
      .mutablePlaying, changed: { $0.frameSettingsChanged() }),
    .fraction(
      "max-framerate", \.maxFrameRate, upTo: Int32(EncoderTargets.maximumFrameRate), "Maximum frame rate",
      """
      Most frames of raw video per second; 0 leaves it to the head unit, whose rate is never exceeded. Changes apply \
      to the next frame
      """,
      .mutablePlaying, changed: { $0.stream?.applySettings() }),
    .boolean(
      "skip-unchanged", \.skipsUnchanged, "Skip unchanged pictures",
      """
      Leave out raw pictures that equal the one before, once the head unit shows that one sharply; keep-alive-interval \
      then counts. Off for applications that draw into a buffer that they have pushed already
      """,
      .mutablePlaying, changed: { $0.frameSettingsChanged() }),
    .boolean(
      "low-delay-delimiter", \.movesDelimiters, "Low-delay delimiter",
      """
      Announce the next picture at the end of each, so that a decoder of a byte stream shows it at once and not only \
      when the next one comes. Not over RTP, which marks the end of pictures
      """,
      .mutablePlaying, changed: { $0.frameSettingsChanged() }),
    .unsigned(
      "keep-alive-interval", \.keepAliveInterval, 0...3_600_000, "Keep-alive interval",
      """
      The last picture is sent again after so long without another, in milliseconds, so that the head unit does not \
      blank its screen; 0 never
      """,
      .mutablePlaying, changed: { $0.stream?.applyKeepAliveInterval() }),
    .string(
      "encoder", \.encoder.name, "Encoder",
      """
      What encodes raw video: x264 (linked in), the name of an encoder element, or auto, which is x264 if this build has \
      it, otherwise the first element of those that the element's page lists that can be used
      """,
      .mutableReady),
    .enumeration(
      "speed-preset", \.encoder.speedPreset, "Speed/quality preset", "x264 preset for speed against quality",
      .mutableReady),
    .unsigned(
      "key-int-max", \.encoder.keyFrameInterval, 0...UInt32(Int32.max), "Key-frame maximal interval",
      "Longest distance between two key frames, in frames; 0 is two seconds", .mutableReady),
    .unsigned(
      "threads", \.encoder.threads, 0...128, "Threads",
      "Number of threads of the encoder; 0 takes as many as the size of the pictures calls for", .mutableReady),
    .string(
      "option-string", \.encoder.optionString, "Option string",
      "x264 options (name=value:name=value); options that head units can't decode are refused", .mutableReady),
    // The notice.
    .boolean(
      "background-notice", \.notice.isShown, "Background notice",
      "Show a text on the head unit when app-state becomes resigning, before nothing more is sent", .mutablePlaying),
    .string(
      "background-text", \.notice.text, "Background text",
      "Text of the background notice; unset: a sentence with the app's name", .mutablePlaying),
    .boolean(
      "background-repeat", \.notice.isRepeated, "Background repeat",
      """
      Send the background notice on, a picture every keep-alive-interval, for head units that blank their screen \
      without data
      """,
      .mutablePlaying),
    // Touches.
    .integerRows(
      "haptic-rectangles", \.hapticRectangles, "Haptic rectangles",
      """
      Touchable parts of the picture, for head units worked with a knob: <<x,y,width,height>,…> in pixels of the \
      input. A frame's own (GstVideoRegionOfInterestMeta of the type sdl-haptic) replace them
      """,
      .mutablePlaying, parse: VideoSinkSettings.hapticRectangles, rows: VideoSinkSettings.rows,
      changed: { $0.hapticRectanglesChanged() }),
    .boolean(
      "synced-panning", \.touch.isSynced, "Synchronized panning",
      """
      Motion of fingers goes upstream once for each frame, with its last place, instead of as often as the head unit \
      tells
      """,
      .mutablePlaying, changed: { $0.touchSettingsChanged() }),
    .boolean(
      "emulate-mouse", \.touch.emulatesMouse, "Emulate mouse",
      "The first finger also is the first button of a mouse, for sources that know no fingers", .mutablePlaying,
      changed: { $0.touchSettingsChanged() }),
    .boolean(
      "gestures", \.touch.recognizesGestures, "Gestures",
      "Post element messages sdl-gesture for taps, double taps, pans and pinches on the head unit's screen",
      .mutablePlaying, changed: { $0.touchSettingsChanged() }),
    // Buttons.
    .enumeration(
      "keys", \.keys.use, "Keys",
      """
      Whether the buttons of the car go upstream as keys (GstNavigation), and are posted as element messages sdl-button
      """,
      .mutablePlaying, changed: { $0.stream?.applyKeys() }),
    .structure(
      "key-map", \.keys.map, "Key map",
      """
      X's names of the keys that buttons stand for, where they differ from the table of the element's page: \
      keys,OK=space,NAV_ZOOM_IN=KP_Add. An empty name makes a button no key
      """,
      .mutablePlaying, parse: { value throws(InvalidPropertyValue) in try KeyMap(value) }, structure: { $0.structure }),
    .structure(
      "sdl-stats", "SDL statistics",
      """
      Counters of this element (application/x-sdl-stats): frames-in = frames-sent + frames-unchanged + every \
      frames-dropped-* + frames-queued; bytes-sent; …
      """,
      get: { $0.statistics() }))

  /// Sets the URI for GstURIHandler, which immediately refuses other URIs.
  func takeURI(_ uri: String, _ error: UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?) -> Bool {
    guard !isRunningOrStarting else {
      return URIHandler.refuse(GST_URI_ERROR_BAD_STATE, "the uri can only be set in NULL or READY", error)
    }
    do throws(HeadUnitURI.Malformed) {
      _ = try HeadUnitURI(uri)
    } catch let malformed {
      return URIHandler.refuse(GST_URI_ERROR_BAD_URI, malformed.description, error)
    }
    settings.withLock { $0.app.uri = uri }
    notify("uri")
    return true
  }
}

extension PropertyName {
  static let targetBitrate: PropertyName = "target-bitrate"
}
