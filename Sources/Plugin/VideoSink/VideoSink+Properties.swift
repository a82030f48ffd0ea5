import GStreamerKit
import SDLApp
import X264Encoder

extension VideoSink {
  func setProperty(_ id: UInt32, _ value: UnsafePointer<GValue>) {
    guard let property = VideoSinkProperty(rawValue: id) else { return }
    if property.specification.access == .mutableReady, isRunning {
      warn(
        .resource(
          GST_RESOURCE_ERROR_SETTINGS,
          "The property \(property.specification.nameText) was not changed: it can only be set in NULL or READY"))
      return
    }
    if property == .hapticRectangles { return setHapticRectangles(value) }
    if property == .videoFormats { return setVideoFormats(value.string) }
    settings.withLock { settings in
      switch property {
      case .autoReconnect: settings.autoReconnect = g_value_get_boolean(value) != 0
      case .startTimeout: settings.startTimeout = g_value_get_uint(value)
      case .maxRetryInterval: settings.maxRetryInterval = g_value_get_uint(value)
      case .legacyStartDelay: settings.legacyStartDelay = g_value_get_uint(value)
      case .appState: settings.appState = AppState(enumValue: g_value_get_enum(value)) ?? .foreground
      case .restartOnForeground: settings.restartOnForeground = g_value_get_boolean(value) != 0
      case .suspendPolicy: settings.suspendPolicy = SuspendPolicy(rawValue: g_value_get_enum(value)) ?? .auto
      case .resizePolicy: settings.resizePolicy = ResizePolicy(rawValue: g_value_get_enum(value)) ?? .renegotiate
      case .keepAliveInterval: settings.keepAliveInterval = g_value_get_uint(value)
      case .backgroundNotice: settings.hasBackgroundNotice = g_value_get_boolean(value) != 0
      case .backgroundRepeat: settings.repeatsBackgroundNotice = g_value_get_boolean(value) != 0
      case .backgroundText: settings.backgroundText = value.string
      case .syncedPanning: settings.syncedPanning = g_value_get_boolean(value) != 0
      case .emulateMouse: settings.emulatesMouse = g_value_get_boolean(value) != 0
      case .gestures: settings.recognizesGestures = g_value_get_boolean(value) != 0
      case .uri: settings.uri = value.string.flatMap { $0.isEmpty ? nil : $0 }
      case .appName: settings.appName = value.string ?? ""
      case .appID: settings.appID = value.string ?? ""
      case .appType: settings.appType = AppType(rawValue: g_value_get_enum(value)) ?? .navigation
      case .language: settings.language = value.string ?? ""
      case .connectTimeout: settings.connectTimeout = g_value_get_uint(value)
      case .heartbeatInterval: settings.heartbeatInterval = g_value_get_uint(value)
      case .bitrate: settings.bitrate = g_value_get_uint(value)
      case .bitratePolicy:
        settings.bitratePolicy = BitratePolicy(enumValue: g_value_get_enum(value)) ?? .defaultCapped
      case .maxFrameRate: settings.maxFrameRate = Fraction(value)
      case .speedPreset:
        settings.speedPreset =
          SpeedPreset(rawValue: g_value_get_enum(value)) ?? VideoSinkSettings.defaultSpeedPreset
      case .keyIntMax: settings.keyIntMax = g_value_get_uint(value)
      case .threads: settings.threads = g_value_get_uint(value)
      case .optionString: settings.optionString = value.string ?? ""
      case .hapticRectangles, .videoFormats, .connectionState, .streamState, .hmiLevel, .headUnit, .stats: break
      }
    }
    switch property {
    case .appState: updateAppState()
    case .keepAliveInterval: updateKeepAlive()
    default: break
    }
  }

  /// The value of a property is not taken; `reason` is told, at the latest when the element starts.
  func refuse(_ property: VideoSinkProperty, _ reason: String) {
    let error = ElementError.resource(
      GST_RESOURCE_ERROR_SETTINGS, "The property \(property.specification.nameText) was not changed: \(reason)")
    guard let bus = gst_element_get_bus(gstElement) else {
      log(GST_LEVEL_WARNING, error.text)
      return settings.withLock { $0.refusals[property] = error }
    }
    gst_object_unref(bus)
    warn(error)
  }

  /// gst-launch sets properties before there is a pipeline that could be told.
  func tellRefusals() {
    let refusals = settings.withLock { settings in
      defer { settings.refusals = [:] }
      return settings.refusals
    }
    for (_, error) in refusals.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      error.post(as: GST_MESSAGE_WARNING, from: gstElement)
    }
  }

  private var isRunning: Bool { cgst_element_state(gstElement).rawValue > GST_STATE_READY.rawValue }

  func getProperty(_ id: UInt32, _ value: UnsafeMutablePointer<GValue>) {
    guard let property = VideoSinkProperty(rawValue: id) else { return }
    let settings = self.settings.withLock { $0 }
    switch property {
    case .uri: g_value_set_string(value, settings.uri)
    case .appName: g_value_set_string(value, settings.appName)
    case .appID: g_value_set_string(value, settings.appID)
    case .appType: g_value_set_enum(value, settings.appType.rawValue)
    case .language: g_value_set_string(value, settings.language)
    case .connectTimeout: g_value_set_uint(value, settings.connectTimeout)
    case .heartbeatInterval: g_value_set_uint(value, settings.heartbeatInterval)
    case .autoReconnect: g_value_set_boolean(value, settings.autoReconnect ? 1 : 0)
    case .startTimeout: g_value_set_uint(value, settings.startTimeout)
    case .maxRetryInterval: g_value_set_uint(value, settings.maxRetryInterval)
    case .legacyStartDelay: g_value_set_uint(value, settings.legacyStartDelay)
    case .appState: g_value_set_enum(value, settings.appState.enumValue)
    case .restartOnForeground: g_value_set_boolean(value, settings.restartOnForeground ? 1 : 0)
    case .suspendPolicy: g_value_set_enum(value, settings.suspendPolicy.rawValue)
    case .resizePolicy: g_value_set_enum(value, settings.resizePolicy.rawValue)
    case .keepAliveInterval: g_value_set_uint(value, settings.keepAliveInterval)
    case .backgroundNotice: g_value_set_boolean(value, settings.hasBackgroundNotice ? 1 : 0)
    case .backgroundRepeat: g_value_set_boolean(value, settings.repeatsBackgroundNotice ? 1 : 0)
    case .backgroundText: g_value_set_string(value, settings.backgroundText)
    case .syncedPanning: g_value_set_boolean(value, settings.syncedPanning ? 1 : 0)
    case .emulateMouse: g_value_set_boolean(value, settings.emulatesMouse ? 1 : 0)
    case .gestures: g_value_set_boolean(value, settings.recognizesGestures ? 1 : 0)
    case .hapticRectangles: IntegerRows.append(settings.hapticRows, to: value)
    case .videoFormats: g_value_set_string(value, settings.videoFormats?.text)
    case .bitrate: g_value_set_uint(value, settings.bitrate)
    case .bitratePolicy: g_value_set_enum(value, settings.bitratePolicy.enumValue)
    case .maxFrameRate:
      let rate = settings.maxFrameRate
      gst_value_set_fraction(value, gint(rate?.numerator ?? 0), gint(rate?.denominator ?? 1))
    case .speedPreset: g_value_set_enum(value, settings.speedPreset.rawValue)
    case .keyIntMax: g_value_set_uint(value, settings.keyIntMax)
    case .threads: g_value_set_uint(value, settings.threads)
    case .optionString: g_value_set_string(value, settings.optionString)
    case .connectionState: g_value_set_enum(value, state.withLock { $0.connectionState }.rawValue)
    case .streamState: g_value_set_enum(value, state.withLock { $0.streamState }.enumValue)
    case .hmiLevel: g_value_set_enum(value, (state.withLock { $0.hmiStatus?.level } ?? .none).enumValue)
    case .headUnit: g_value_take_boxed(value, headUnitStructure()?.take())
    case .stats: g_value_take_boxed(value, statistics().take())
    }
  }

  /// GstURIHandler: refuses at once what could never work.
  func takeURI(_ uri: String, _ error: UnsafeMutablePointer<UnsafeMutablePointer<GError>?>?) -> Bool {
    guard !isRunning else {
      g_set_error_literal(
        error, gst_uri_error_quark(), gint(GST_URI_ERROR_BAD_STATE.rawValue),
        "the uri can only be set in NULL or READY")
      return false
    }
    do {
      _ = try HeadUnitURI(uri)
    } catch {
      let reason = error.description
      setError(reason)
      return false
    }
    settings.withLock { $0.uri = uri }
    VideoSinkProperty.uri.notify(element)
    return true

    func setError(_ reason: String) {
      g_set_error_literal(error, gst_uri_error_quark(), gint(GST_URI_ERROR_BAD_URI.rawValue), reason)
    }
  }
}

extension Fraction {
  /// Of a value that holds a GstFraction; nil for 0.
  fileprivate init?(_ value: UnsafePointer<GValue>) {
    self.init(Int(gst_value_get_fraction_numerator(value)), Int(gst_value_get_fraction_denominator(value)))
  }
}
