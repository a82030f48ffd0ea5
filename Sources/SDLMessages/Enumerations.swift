/// Whether the app is on the head unit's screen (RPC specification, `HMILevel`).
package enum HMILevel: String, Sendable, CaseIterable {
  case full = "FULL"
  case limited = "LIMITED"
  case background = "BACKGROUND"
  case none = "NONE"
}

/// Whether the head unit shows video in the present level (`VideoStreamingState`).
package enum VideoStreamingState: String, Sendable, CaseIterable {
  case streamable = "STREAMABLE"
  case notStreamable = "NOT_STREAMABLE"
}

/// Whether the app's sound is played (`AudioStreamingState`).
package enum AudioStreamingState: String, Sendable, CaseIterable {
  case audible = "AUDIBLE"
  case attenuated = "ATTENUATED"
  case notAudible = "NOT_AUDIBLE"
}

/// What is in front of the app on the screen (`SystemContext`).
package enum SystemContext: String, Sendable, CaseIterable {
  case main = "MAIN"
  case voiceSession = "VRSESSION"
  case menu = "MENU"
  case obscured = "HMI_OBSCURED"
  case alert = "ALERT"
}

/// Kind of app; only navigation and projection apps may stream video (`AppHMIType`).
package enum AppHMIType: String, Sendable, CaseIterable {
  case `default` = "DEFAULT"
  case communication = "COMMUNICATION"
  case media = "MEDIA"
  case messaging = "MESSAGING"
  case navigation = "NAVIGATION"
  case information = "INFORMATION"
  case social = "SOCIAL"
  case backgroundProcess = "BACKGROUND_PROCESS"
  case testing = "TESTING"
  case system = "SYSTEM"
  case projection = "PROJECTION"
  case remoteControl = "REMOTE_CONTROL"
  case webView = "WEB_VIEW"
}

/// Kind of a file that an app sends (`FileType`).
package enum FileType: String, Sendable, CaseIterable {
  case bmp = "GRAPHIC_BMP"
  case jpeg = "GRAPHIC_JPEG"
  case png = "GRAPHIC_PNG"
  case wave = "AUDIO_WAVE"
  case mp3 = "AUDIO_MP3"
  case aac = "AUDIO_AAC"
  case binary = "BINARY"
  case json = "JSON"
}

/// The capability that GetSystemCapability asks for (`SystemCapabilityType`); only the types in use here.
package enum SystemCapabilityType: String, Sendable {
  case videoStreaming = "VIDEO_STREAMING"
  case displays = "DISPLAYS"
}

/// The outcome of a request (`Result`); only the values that this project sends or acts on.
package enum ResultCode: String, Sendable {
  case success = "SUCCESS"
  case warnings = "WARNINGS"
  case wrongLanguage = "WRONG_LANGUAGE"
  case resumeFailed = "RESUME_FAILED"
  case unsupportedRequest = "UNSUPPORTED_REQUEST"
  case unsupportedResource = "UNSUPPORTED_RESOURCE"
  /// The RPC service has to be encrypted first (SDL-0207).
  case encryptionNeeded = "ENCRYPTION_NEEDED"
  case disallowed = "DISALLOWED"
  case rejected = "REJECTED"
  case ignored = "IGNORED"
  case timedOut = "TIMED_OUT"
  case aborted = "ABORTED"
  case inUse = "IN_USE"
  case outOfMemory = "OUT_OF_MEMORY"
  case invalidData = "INVALID_DATA"
  case corruptedData = "CORRUPTED_DATA"
  case fileNotFound = "FILE_NOT_FOUND"
  case invalidID = "INVALID_ID"
  case duplicateName = "DUPLICATE_NAME"
  case applicationNotRegistered = "APPLICATION_NOT_REGISTERED"
  case applicationRegisteredAlready = "APPLICATION_REGISTERED_ALREADY"
  case tooManyApplications = "TOO_MANY_APPLICATIONS"
  case genericError = "GENERIC_ERROR"
  case userDisallowed = "USER_DISALLOWED"
  case unsupportedVersion = "UNSUPPORTED_VERSION"
  case dataNotAvailable = "DATA_NOT_AVAILABLE"
  case vehicleDataNotAvailable = "VEHICLE_DATA_NOT_AVAILABLE"
}

/// Why the head unit ended the registration (`AppInterfaceUnregisteredReason`).
package enum UnregisteredReason: String, Sendable, CaseIterable {
  case ignitionOff = "IGNITION_OFF"
  case bluetoothOff = "BLUETOOTH_OFF"
  case usbDisconnected = "USB_DISCONNECTED"
  case requestWhileInNone = "REQUEST_WHILE_IN_NONE_HMI_LEVEL"
  case tooManyRequests = "TOO_MANY_REQUESTS"
  case driverDistractionViolation = "DRIVER_DISTRACTION_VIOLATION"
  case languageChange = "LANGUAGE_CHANGE"
  case masterReset = "MASTER_RESET"
  case factoryDefaults = "FACTORY_DEFAULTS"
  case appUnauthorized = "APP_UNAUTHORIZED"
  case protocolViolation = "PROTOCOL_VIOLATION"
  case unsupportedHMIResource = "UNSUPPORTED_HMI_RESOURCE"
  case resourceConstraint = "RESOURCE_CONSTRAINT"
}
