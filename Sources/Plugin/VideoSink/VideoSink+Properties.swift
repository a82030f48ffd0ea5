import GStreamerKit
import SDLApp
import X264Encoder

extension VideoSink {
  typealias Settings = VideoSinkSettings

  static let properties = PropertyList<VideoSink>(
    // The app, its head unit, and encryption.
    Property.app + Property.encryption + Property.conversation,
    .rpcNotifications,
    .policyUpdates,
    .unsigned(
      "legacy-start-delay", \.app.legacyStartDelay, 0...60_000, "Legacy start delay",
      """
      Pause before video starts on a head unit without a video capability, which may otherwise stay black, in \
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
      Whether the app is in the foreground: video is sent in foreground and regaining; in resigning the background \
      notice, then nothing, as in background
      """,
      .mutablePlaying, changed: { $0.stream?.applyAppState() }),
    .boolean(
      "restart-on-foreground", \.app.restartsOnForeground, "Restart on foreground",
      "When the app comes back to the foreground, restart the video service instead of resuming it",
      .mutableReady),
    .enumeration(
      "suspend-policy", \.suspendPolicy, "Suspend policy",
      "What happens to frames while the head unit or app-state does not allow video", .mutableReady),
    .enumeration(
      "resize-policy", \.resizePolicy, "Resize policy",
      """
      What happens when the head unit resizes the picture of a running stream: keep lasts until the service ends, \
      also in the background; a new connection may also cause a resize
      """,
      .mutableReady),
    .unsigned(
      "max-width", \.maxWidth, 16...UInt32(VideoDisplay.maximumSide), "Maximum width",
      """
      With max-height the largest picture: a display of the head unit whose picture has more pixels than \
      max-width × max-height, in any shape, is left out
      """,
      .mutableReady),
    .unsigned(
      "max-height", \.maxHeight, 16...UInt32(VideoDisplay.maximumSide), "Maximum height", "See max-width",
      .mutableReady),
    .enumeration(
      "stream-state", default: StreamState.stopped, "Stream state", "State of the video stream",
      get: { $0.stream?.streamState ?? .stopped }),
    // How it is encoded and carried.
    .text(
      "video-formats", \.videoFormats, "Video formats",
      """
      How H.264 may be carried, in order of preference: raw, rtp, or both with a comma; formats that the head unit \
      does not list are skipped; unset: the head unit's order
      """,
      .mutableReady, parse: VideoFormatList.parse, text: { $0?.text }),
    .unsigned(
      "bitrate", \.bitrate, 0...UInt32(EncoderSettings.bitrateRange.upperBound), "Bitrate",
      """
      Bitrate for encoding raw video, in kbit/s, for the next frame on; 0 is automatic, and the head unit's maximum is \
      never exceeded
      """,
      .mutablePlaying, changed: { $0.stream?.applySettings() }),
    .enumeration(
      "bitrate-policy", \.bitratePolicy, "Bitrate policy",
      "Meaning of bitrate=0, for the next frame on", .mutablePlaying,
      changed: { $0.stream?.applySettings() }),
    .unsigned(
      "target-bitrate", 1...UInt32(EncoderSettings.bitrateRange.upperBound),
      default: UInt32(EncoderTargets.defaultBitrate), "Target bitrate",
      "Target for an encoder upstream, in kbit/s: bind its bitrate to this property (g_object_bind_property)",
      get: { $0.targetBitrate }),
    .boolean(
      "adaptive-bitrate", \.link.isAdaptive, "Adaptive bitrate",
      """
      With a live source, adapt the bitrate to the link, from min-bitrate to bitrate; with bitrate=0 it may rise \
      above its initial value, up to the limits of picture and head unit
      """,
      .mutablePlaying, changed: { $0.frameSettingsChanged() }),
    .unsigned(
      "min-bitrate", \.link.minimumBitrate, 1...UInt32(EncoderSettings.bitrateRange.upperBound), "Minimum bitrate",
      """
      Lowest bitrate with adaptive-bitrate, in kbit/s; slower links get fewer pictures instead of worse ones
      """,
      .mutablePlaying, changed: { $0.frameSettingsChanged() }),
    .unsigned(
      "max-latency", \.link.maximumLatency, 0...60_000, "Maximum latency",
      """
      Longest time that a picture of a live source may take to the head unit, in milliseconds, and a third of that of \
      H.264 from upstream, of which the rest is dropped up to the next key frame; 0: no limit
      """,
      .mutablePlaying, changed: { $0.frameSettingsChanged() }),
    .fraction(
      "max-framerate", \.maxFrameRate, upTo: Int32(EncoderTargets.maximumFrameRate), "Maximum frame rate",
      """
      Highest frame rate of raw video; 0 leaves it to the head unit, whose rate is never exceeded; for the next \
      frame on
      """,
      .mutablePlaying, changed: { $0.stream?.applySettings() }),
    .boolean(
      "skip-unchanged", \.skipsUnchanged, "Skip unchanged pictures",
      """
      Leave out raw pictures that equal the previous one, once the head unit shows it sharply; it is then only \
      repeated every keep-alive-interval; false is for applications that draw into a buffer that they have already \
      pushed
      """,
      .mutablePlaying, changed: { $0.frameSettingsChanged() }),
    .boolean(
      "low-delay-delimiter", \.movesDelimiters, "Low-delay delimiter",
      """
      Announce the next picture at the end of each, so that a byte-stream decoder shows it at once, without waiting \
      for the next one; not over RTP, which marks the end of pictures
      """,
      .mutablePlaying, changed: { $0.frameSettingsChanged() }),
    .enumeration(
      "video-direction", \.direction, "Video direction",
      "How raw pictures are turned before they are encoded; auto: as their tag image-orientation says",
      .mutablePlaying, changed: { $0.directionChanged() }),
    .unsigned(
      "keep-alive-interval", \.keepAliveInterval, 0...3_600_000, "Keep-alive interval",
      """
      Repeat the last picture after this time without another, in milliseconds, so that the head unit does not blank \
      its screen; 0: never
      """,
      .mutablePlaying, changed: { $0.stream?.applyKeepAliveInterval() }),
    .string(
      "encoder", \.encoder.name, "Encoder",
      """
      Encoder of raw video: x264 (linked in), the name of an encoder element, or auto, which is x264 if this build has \
      it, otherwise the first usable element in the list on the element's page
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
      "Number of threads of the encoder; 0 chooses by the size of the pictures", .mutableReady),
    .string(
      "option-string", \.encoder.optionString, "Option string",
      "x264 options (name=value:name=value); options that head units can't decode are refused", .mutableReady),
    // The notice.
    .boolean(
      "background-notice", \.notice.isShown, "Background notice",
      "Show a text on the head unit when app-state becomes resigning, before the video stops", .mutablePlaying),
    .string(
      "background-text", \.notice.text, "Background text",
      "Text of the background notice; unset: a sentence with the app's name", .mutablePlaying),
    .boolean(
      "background-repeat", \.notice.isRepeated, "Background repeat",
      """
      Keep sending the background notice, a picture every keep-alive-interval, for head units that blank their \
      screen without data
      """,
      .mutablePlaying),
    // Touches.
    .integerRows(
      "haptic-rectangles", \.hapticRectangles, "Haptic rectangles",
      """
      Touchable parts of the picture, for head units operated with a knob: <<x,y,width,height>,…> in pixels of the \
      input, unless a frame has metas with its own (GstVideoRegionOfInterestMeta of type sdl-haptic)
      """,
      .mutablePlaying, parse: VideoSinkSettings.hapticRectangles, rows: VideoSinkSettings.rows,
      changed: { $0.hapticRectanglesChanged() }),
    .boolean(
      "synced-panning", \.touch.isSynced, "Synchronized panning",
      """
      Send finger motion upstream once per frame, with the last position, instead of at each report of the head unit
      """,
      .mutablePlaying, changed: { $0.touchSettingsChanged() }),
    .boolean(
      "emulate-mouse", \.touch.emulatesMouse, "Emulate mouse",
      "Send the first finger as the first mouse button as well, for sources without touch support", .mutablePlaying,
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
      X key names for buttons, where they differ from the table on the element's page: \
      keys,OK=space,NAV_ZOOM_IN=KP_Add; with an empty name, a button sends no key
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
    guard !isRunning else {
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
