import GStreamerKit
import SDLApp

/// The field `service` of messages about a stream.
enum StreamService: String {
  case audio
  case video
}

/// An element's messages about its app (PROGRESS, element messages), and the structure of the property `head-unit`.
extension AppElement {
  func postProgress(_ type: GstProgressType, _ text: String) {
    log(GST_LEVEL_INFO, text)
    post(gst_message_new_progress(gstElement.cast(), type, "connect", text))
  }

  /// Posts or logs events of the app's session that need no other reaction.
  func post(_ event: AppSession.Event) {
    switch event {
    case .sessionStarted(let version):
      postProgress(GST_PROGRESS_TYPE_CONTINUE, "Registering the app over SDL protocol \(version)")
    case .hmiStatus(let status):
      let streaming = "\(status.videoStreamingState.rawValue), \(status.audioStreamingState.rawValue)"
      log(GST_LEVEL_INFO, "HMI level \(status.level?.rawValue ?? "?"), \(streaming)")
      postHMIStatus(status)
    case .secured(let summary):
      log(GST_LEVEL_INFO, "\(summary.protocolVersion) with the head unit, \(summary.cipher)")
    case .mediaInClear(let service, let reason):
      let name = service == .audio ? "sound" : "video"
      warn(.resource(GST_RESOURCE_ERROR_NOT_AUTHORIZED, "The \(name) is not encrypted: \(reason)."))
    case .rpcProtected: log(GST_LEVEL_INFO, "RPCs are encrypted from now on")
    case .rpcInClear(let reason):
      warn(
        .resource(
          GST_RESOURCE_ERROR_NOT_AUTHORIZED,
          "The head unit's policy requires encrypted RPCs, but they are sent in clear: \(reason). It may refuse some of them."
        ))
    case .rpcIgnored(let function):
      warn(
        .resource(
          GST_RESOURCE_ERROR_NOT_AUTHORIZED,
          "\(function) came in clear, and is ignored with rpc-encryption=require: another machine may have sent it. A head unit has to encrypt all notifications, by requireEncryption in its policy; otherwise use rpc-encryption=prefer."
        ))
    case .driverDistraction(let distraction): postDriverDistraction(distraction)
    case .presentationRefused(let function, let code, let info):
      let what = function == .changeRegistration ? "name in its language" : "icon"
      warn(
        .resource(
          GST_RESOURCE_ERROR_SETTINGS,
          "The head unit rejects the app's \(what): \(function) failed, \(code)\(info.map { ": \($0)" } ?? "")."))
    case .secondaryTransportChanged(let status):
      log(GST_LEVEL_INFO, "secondary transport \(status.state)\(status.reason.map { ": \($0)" } ?? "")")
      postTransportChanged(status)
    case .transportProblem(let text):
      warn(.resource(GST_RESOURCE_ERROR_SETTINGS, "Problem with the secondary transport: \(text)."))
    case .diagnostic(let text): log(GST_LEVEL_WARNING, text)
    case .registered, .videoCapability, .videoStarted, .videoStopped, .videoStartFailed, .audioStarted, .audioStopped,
      .audioStartFailed, .touch, .touchInterrupted, .hapticRectanglesRefused, .button, .keys, .applicationRPC, .failed:
      break
    }
  }

  /// `sdl-connected`: the app is registered with the head unit.
  func postConnected(_ headUnit: HeadUnitInfo, uri: String?, peer: String) {
    let message = Structure("sdl-connected")
    message.set("uri", uri ?? "sdl+builtin:default")
    message.set("peer", peer)
    headUnit.fill(message)
    postElementMessage(message)
  }

  /// `sdl-disconnected`: the connection is gone, and made again after `retryAfter` unless that is nil.
  func postDisconnected(reason: String, retryAfter: Duration?) {
    let message = Structure("sdl-disconnected")
    message.set("reason", reason)
    message.set("will-reconnect", retryAfter != nil)
    if let retryAfter { message.set("retry-after-ms", UInt64(clamping: retryAfter.nanoseconds / 1_000_000)) }
    postElementMessage(message)
  }

  /// `sdl-hmi-status`: the app's level on the head unit, and whether video and audio may be streamed.
  func postHMIStatus(_ status: HMIStatus) {
    let message = Structure("sdl-hmi-status")
    status.fill(message)
    postElementMessage(message)
  }

  /// `sdl-driver-distraction`: whether the driver's attention is needed elsewhere.
  func postDriverDistraction(_ distraction: OnDriverDistraction) {
    let message = Structure("sdl-driver-distraction")
    message.set("limited", distraction.isDistractionLimited)
    message.set("dismissal-enabled", distraction.lockScreenDismissalEnabled)
    message.set("text", distraction.lockScreenDismissalWarning)
    postElementMessage(message)
  }

  /// `sdl-lock-screen`: whether the app has to lock its own screen.
  func postLockScreen(_ lockScreen: LockScreen) {
    let message = Structure("sdl-lock-screen")
    message.set("status", lockScreen.status.rawValue)
    message.set("text", lockScreen.text)
    postElementMessage(message)
  }
}

extension HeadUnitInfo {
  /// The property `head-unit`.
  var structure: Structure {
    let structure = Structure("application/x-sdl-head-unit")
    fill(structure)
    if let videoCapability { structure.set("video-capability", videoCapability.structure) }
    if let announcedPCMFormat { structure.set("audio-capability", announcedPCMFormat.structure) }
    return structure
  }

  fileprivate func fill(_ structure: borrowing Structure) {
    structure.set("make", make)
    structure.set("model", model)
    structure.set("model-year", modelYear)
    structure.set("trim", trim)
    structure.set("software-version", softwareVersion)
    structure.set("hardware-version", hardwareVersion)
    structure.set("protocol-version", "\(protocolVersion)")
    structure.set("rpc-version", rpcVersion.map { "\($0)" })
  }
}

extension PCMFormat {
  fileprivate var structure: Structure {
    let structure = Structure("application/x-sdl-audio-capability")
    structure.set("format", formatName)
    structure.set("rate", Int32(clamping: samplingRate.hertz))
    return structure
  }
}

extension VideoStreamingCapability {
  fileprivate var structure: Structure {
    let structure = Structure("application/x-sdl-video-capability")
    if let size = preferredResolution {
      structure.set("width", Int32(clamping: size.width))
      structure.set("height", Int32(clamping: size.height))
    }
    if let maxBitrate { structure.set("max-bitrate", Int32(clamping: maxBitrate)) }
    if let preferredFPS { structure.set("preferred-fps", Int32(clamping: preferredFPS)) }
    structure.set("scale", scale)
    structure.set("diagonal", diagonalScreenSize)
    structure.set("pixels-per-inch", pixelPerInch)
    structure.set("haptics", hapticSpatialDataSupported)
    if let supportedFormats {
      structure.set("formats", supportedFormats.map { "\($0.videoProtocol)/\($0.codec)" }.joined(separator: ", "))
    }
    structure.set("additional-capabilities", UInt64(additionalCapabilities?.count ?? 0))
    return structure
  }
}

/// Counters of the app, over all connections of an element.
struct AppCounters: Equatable {
  var attempts: UInt64 = 0
  var connections: UInt64 = 0
  /// From the beginning of the last attempt to the registration.
  var connectTime: Duration = .zero
  var roundTrip: Duration = .zero
  /// The bytes sent by earlier connections.
  var formerBytesSent: UInt64 = 0
  /// Nil while nothing has gone wrong.
  var lastError: String?

  /// Fields of `sdl-stats`.
  func fill(_ structure: borrowing Structure) {
    structure.set("connect-attempts", attempts)
    structure.set("connections", connections)
    structure.set("connect-time-ns", UInt64(clamping: connectTime.nanoseconds))
    structure.set("round-trip-ns", UInt64(clamping: roundTrip.nanoseconds))
  }
}

extension HeadUnitInfo {
  /// Make and model, for users.
  var name: String {
    let name = [make, model, modelYear].compactMap(\.self).joined(separator: " ")
    return name.isEmpty ? "the head unit" : name
  }
}

extension ElementError {
  /// The head unit does not read.
  static func stalled(for time: Duration) -> ElementError {
    .resource(
      GST_RESOURCE_ERROR_WRITE,
      "The head unit has not read anything for \(time.components.seconds) s: live video and sound are dropped, files wait. Is its software still running?"
    )
  }
}
