import SDLMessages
import Testing

/// The values of enumerations, by their names in RPC specification 8.0.
@Suite struct EnumerationTests {
  /// Whether the table has all values of the type, each with its name.
  private func expectNames<Value: RawRepresentable<String> & CaseIterable & Equatable>(_ names: [(Value, String)]) {
    for (value, name) in names { #expect(value.rawValue == name) }
    #expect(names.map(\.0) == Array(Value.allCases))
  }

  @Test func ofTheStatus() {
    expectNames([(HMILevel.full, "FULL"), (.limited, "LIMITED"), (.background, "BACKGROUND"), (.none, "NONE")])
    expectNames([(VideoStreamingState.streamable, "STREAMABLE"), (.notStreamable, "NOT_STREAMABLE")])
    expectNames([
      (AudioStreamingState.audible, "AUDIBLE"), (.attenuated, "ATTENUATED"), (.notAudible, "NOT_AUDIBLE"),
    ])
    expectNames([
      (SystemContext.main, "MAIN"), (.voiceSession, "VRSESSION"), (.menu, "MENU"), (.obscured, "HMI_OBSCURED"),
      (.alert, "ALERT"),
    ])
  }

  /// `AppHMIType`.
  @Test func kindsOfApps() {
    expectNames([
      (AppHMIType.default, "DEFAULT"), (.communication, "COMMUNICATION"), (.media, "MEDIA"),
      (.messaging, "MESSAGING"), (.navigation, "NAVIGATION"), (.information, "INFORMATION"), (.social, "SOCIAL"),
      (.backgroundProcess, "BACKGROUND_PROCESS"), (.testing, "TESTING"), (.system, "SYSTEM"),
      (.projection, "PROJECTION"), (.remoteControl, "REMOTE_CONTROL"), (.webView, "WEB_VIEW"),
    ])
  }

  /// `AppInterfaceUnregisteredReason`.
  @Test func reasonsOfTheEndOfARegistration() {
    expectNames([
      (UnregisteredReason.ignitionOff, "IGNITION_OFF"), (.bluetoothOff, "BLUETOOTH_OFF"),
      (.usbDisconnected, "USB_DISCONNECTED"), (.requestWhileInNone, "REQUEST_WHILE_IN_NONE_HMI_LEVEL"),
      (.tooManyRequests, "TOO_MANY_REQUESTS"), (.driverDistractionViolation, "DRIVER_DISTRACTION_VIOLATION"),
      (.languageChange, "LANGUAGE_CHANGE"), (.masterReset, "MASTER_RESET"), (.factoryDefaults, "FACTORY_DEFAULTS"),
      (.appUnauthorized, "APP_UNAUTHORIZED"), (.protocolViolation, "PROTOCOL_VIOLATION"),
      (.unsupportedHMIResource, "UNSUPPORTED_HMI_RESOURCE"), (.resourceConstraint, "RESOURCE_CONSTRAINT"),
    ])
  }

  /// `ButtonName`, without those of radio and climate and those that apps show.
  @Test func buttons() {
    expectNames([
      (ButtonName.ok, "OK"), (.playPause, "PLAY_PAUSE"), (.seekLeft, "SEEKLEFT"), (.seekRight, "SEEKRIGHT"),
      (.tuneUp, "TUNEUP"), (.tuneDown, "TUNEDOWN"), (.preset0, "PRESET_0"), (.preset1, "PRESET_1"),
      (.preset2, "PRESET_2"), (.preset3, "PRESET_3"), (.preset4, "PRESET_4"), (.preset5, "PRESET_5"),
      (.preset6, "PRESET_6"), (.preset7, "PRESET_7"), (.preset8, "PRESET_8"), (.preset9, "PRESET_9"),
      (.search, "SEARCH"), (.navCenterLocation, "NAV_CENTER_LOCATION"), (.navZoomIn, "NAV_ZOOM_IN"),
      (.navZoomOut, "NAV_ZOOM_OUT"), (.navPanUp, "NAV_PAN_UP"), (.navPanUpRight, "NAV_PAN_UP_RIGHT"),
      (.navPanRight, "NAV_PAN_RIGHT"), (.navPanDownRight, "NAV_PAN_DOWN_RIGHT"), (.navPanDown, "NAV_PAN_DOWN"),
      (.navPanDownLeft, "NAV_PAN_DOWN_LEFT"), (.navPanLeft, "NAV_PAN_LEFT"), (.navPanUpLeft, "NAV_PAN_UP_LEFT"),
      (.navTiltToggle, "NAV_TILT_TOGGLE"), (.navRotateClockwise, "NAV_ROTATE_CLOCKWISE"),
      (.navRotateCounterclockwise, "NAV_ROTATE_COUNTERCLOCKWISE"), (.navHeadingToggle, "NAV_HEADING_TOGGLE"),
    ])
  }

  /// `Result`, as far as it is used.
  @Test(
    arguments: [
      (.success, "SUCCESS"), (.warnings, "WARNINGS"), (.wrongLanguage, "WRONG_LANGUAGE"),
      (.resumeFailed, "RESUME_FAILED"), (.unsupportedRequest, "UNSUPPORTED_REQUEST"),
      (.unsupportedResource, "UNSUPPORTED_RESOURCE"), (.encryptionNeeded, "ENCRYPTION_NEEDED"),
      (.disallowed, "DISALLOWED"), (.rejected, "REJECTED"), (.ignored, "IGNORED"), (.timedOut, "TIMED_OUT"),
      (.aborted, "ABORTED"), (.inUse, "IN_USE"), (.outOfMemory, "OUT_OF_MEMORY"), (.invalidData, "INVALID_DATA"),
      (.corruptedData, "CORRUPTED_DATA"), (.fileNotFound, "FILE_NOT_FOUND"), (.invalidID, "INVALID_ID"),
      (.duplicateName, "DUPLICATE_NAME"), (.applicationNotRegistered, "APPLICATION_NOT_REGISTERED"),
      (.applicationRegisteredAlready, "APPLICATION_REGISTERED_ALREADY"),
      (.tooManyApplications, "TOO_MANY_APPLICATIONS"), (.genericError, "GENERIC_ERROR"),
      (.userDisallowed, "USER_DISALLOWED"), (.unsupportedVersion, "UNSUPPORTED_VERSION"),
      (.dataNotAvailable, "DATA_NOT_AVAILABLE"), (.vehicleDataNotAvailable, "VEHICLE_DATA_NOT_AVAILABLE"),
    ] as [(ResultCode, String)])
  func results(result: ResultCode, name: String) {
    #expect(result.rawValue == name)
  }
}
