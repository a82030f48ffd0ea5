import GStreamerKit
import SDLHeadUnit
import SDLMessages

extension HeadUnitSource {
  func setProperty(_ id: UInt32, _ value: UnsafePointer<GValue>) {
    guard let property = HeadUnitSourceProperty(rawValue: id) else { return }
    if property.specification.access == .mutableReady, isRunning {
      return warn(
        .resource(
          GST_RESOURCE_ERROR_SETTINGS,
          "The property \(property.specification.nameText) was not changed: it can only be set in NULL or READY"))
    }
    do {
      try settings.withLock { settings throws(HeadUnitSourceSettings.Malformed) in
        settings.malformed[id] = nil
        try settings.set(property, value)
      }
      settingChanged(property)
    } catch {
      let text = "\(property.specification.nameText): \(error). It was not changed."
      // gst-launch sets properties before there is a pipeline to tell of it, so then the start tells, and fails.
      guard isRunning else { return settings.withLock { $0.malformed[id] = error } }
      warn(.resource(GST_RESOURCE_ERROR_SETTINGS, text))
    }
  }

  private var isRunning: Bool { cgst_element_state(gstElement).rawValue > GST_STATE_READY.rawValue }

  /// Tells the apps, while there is a server.
  private func settingChanged(_ property: HeadUnitSourceProperty) {
    guard let server = state.withLock({ $0.server }) else { return }
    let settings = self.settings.withLock { $0 }
    switch property {
    case .hmiLevel, .videoStreamable:
      let status = settings.status
      server.setCondition(.activationStatus(status.level ?? HMILevel.none, status.videoStreamingState))
      server.control(.appOnScreen) { $0.setHMIStatus(status, now: $1) }
    case .screenSize:
      let configuration = settings.configuration
      server.configure(configuration)
      let screen = configuration.screen
      server.control(.everyApp) { $0.resize(to: screen, scale: nil, now: $1) }
    case .maxBitrate, .frameRate:
      server.configure(settings.configuration)
      var update = VideoStreamingCapability()
      if property == .maxBitrate { update.maxBitrate = settings.maxBitrate.map(Int.init) }
      if property == .frameRate { update.preferredFPS = settings.frameRate.map(Int.init) }
      let change = update
      server.control(.everyApp) { $0.updateCapability(change, now: $1) }
    default: break
    }
  }

  func getProperty(_ id: UInt32, _ value: UnsafeMutablePointer<GValue>) {
    guard let property = HeadUnitSourceProperty(rawValue: id) else { return }
    let settings = self.settings.withLock { $0 }
    let configuration = settings.configuration
    let capability = configuration.videoCapability
    switch property {
    case .address: g_value_set_string(value, settings.address)
    case .port: g_value_set_uint(value, guint(settings.port))
    case .currentPort: g_value_set_uint(value, guint(state.withLock { $0.server?.port } ?? 0))
    case .preset: g_value_set_enum(value, settings.preset.rawValue)
    case .make: g_value_set_string(value, configuration.vehicle.make)
    case .model: g_value_set_string(value, configuration.vehicle.model)
    case .screenSize: g_value_set_string(value, configuration.screen.text)
    case .additionalSizes:
      let sizes = (capability?.additionalCapabilities ?? []).filter { $0.preferredResolution != nil }
      g_value_set_string(value, sizes.map { SizeWithScale($0).description }.joined(separator: ", "))
    case .scale: g_value_set_double(value, capability?.scale ?? 0)
    case .diagonal: g_value_set_double(value, capability?.diagonalScreenSize ?? 0)
    case .pixelDensity: g_value_set_double(value, capability?.pixelPerInch ?? 0)
    case .formats:
      g_value_set_string(value, (capability?.supportedFormats ?? []).map(\.text).joined(separator: ", "))
    case .maxBitrate: g_value_set_uint(value, guint(clamping: capability?.maxBitrate ?? 0))
    case .frameRate: g_value_set_uint(value, guint(clamping: capability?.preferredFPS ?? 0))
    case .haptics: g_value_set_boolean(value, capability?.hapticSpatialDataSupported ?? false ? 1 : 0)
    case .strict: g_value_set_boolean(value, settings.isStrict ? 1 : 0)
    case .eosOnDisconnect: g_value_set_boolean(value, settings.endsWithApp ? 1 : 0)
    case .hmiLevel:
      let level = state.withLock { $0.apps.onScreen?.status?.level } ?? settings.hmiLevel
      g_value_set_enum(value, level.enumValue)
    case .videoStreamable: g_value_set_boolean(value, settings.isStreamable ? 1 : 0)
    case .script: g_value_set_string(value, settings.script)
    case .apps: Structure.append(state.withLock { $0.apps.all }.map(structure), to: value)
    case .violations: Structure.append(state.withLock { $0.violations.last }.map(structure), to: value)
    case .stats: g_value_take_boxed(value, statistics().take())
    }
  }
}

extension HeadUnitSourceSettings {
  fileprivate mutating func set(
    _ property: HeadUnitSourceProperty, _ value: UnsafePointer<GValue>
  ) throws(Malformed) {
    switch property {
    case .address: address = value.string ?? ""
    case .port: port = UInt16(clamping: g_value_get_uint(value))
    case .preset: preset = HeadUnitSourcePreset(rawValue: g_value_get_enum(value)) ?? .standard
    case .make: make = value.string
    case .model: model = value.string
    case .screenSize: screen = try value.string.map(Self.size)
    case .additionalSizes: additionalSizes = try value.string.map(Self.sizes)
    case .scale:
      let number = g_value_get_double(value)
      guard number == 0 || number >= 1 else { throw Malformed(description: "\(number) is below 1") }
      scale = number
    case .diagonal: diagonal = g_value_get_double(value)
    case .pixelDensity: pixelDensity = g_value_get_double(value)
    case .formats: formats = try value.string.map(Self.formats)
    case .maxBitrate: maxBitrate = g_value_get_uint(value)
    case .frameRate: frameRate = g_value_get_uint(value)
    case .haptics: hasHaptics = g_value_get_boolean(value) != 0
    case .strict: isStrict = g_value_get_boolean(value) != 0
    case .eosOnDisconnect: endsWithApp = g_value_get_boolean(value) != 0
    case .hmiLevel: hmiLevel = HMILevel(enumValue: g_value_get_enum(value)) ?? .full
    case .videoStreamable: isStreamable = g_value_get_boolean(value) != 0
    case .script: script = value.string.flatMap { $0.isEmpty ? nil : $0 }
    case .currentPort, .apps, .violations, .stats: break
    }
  }

  private static func size(_ text: String) throws(Malformed) -> ImageResolution {
    guard let size = ImageResolution(text: text) else {
      throw Malformed(description: "'\(text)' is no size; write it as 800x480, with sides of 1 to 10000")
    }
    return size
  }

  private static func sizes(_ text: String) throws(Malformed) -> [SizeWithScale] {
    var sizes: [SizeWithScale] = []
    for entry in entries(text) {
      guard let size = SizeWithScale(text: entry) else {
        throw Malformed(description: "'\(entry)' is no size; write 480x320, or 480x320@1.5 with a scale of 1 to 10")
      }
      sizes.append(size)
    }
    guard sizes.count <= VideoStreamingCapability.maximumAdditionalCapabilities else {
      throw Malformed(
        description: "there are more than \(VideoStreamingCapability.maximumAdditionalCapabilities) sizes")
    }
    return sizes
  }

  private static func formats(_ text: String) throws(Malformed) -> [VideoStreamingFormat] {
    var formats: [VideoStreamingFormat] = []
    for entry in entries(text) {
      guard let format = VideoStreamingFormat(text: entry) else {
        throw Malformed(description: "'\(entry)' is no format; write RAW/H264 or RTP/H264")
      }
      formats.append(format)
    }
    guard !formats.isEmpty else { throw Malformed(description: "there must be a format, such as RAW/H264") }
    return formats
  }

  private static func entries(_ text: String) -> [String] {
    text.split(separator: ",").map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }
  }
}

extension UnsafePointer<GValue> {
  fileprivate var string: String? { g_value_get_string(self).map { String(cString: $0) } }
}
