import SDLApp
import Testing
import TestSupport

/// Which buttons the app subscribes to, and when.
@Suite struct ButtonSubscriptionTests {
  /// What SDL Core grants an app that no policy names ("Base-4"), as far as buttons go.
  static let anyButNone: [HMILevel] = [.full, .limited, .background]
  static let policy = OnPermissionsChange(
    allowedLevels: [
      "SubscribeButton": anyButNone, "UnsubscribeButton": anyButNone, "OnButtonEvent": anyButNone,
      "OnButtonPress": anyButNone, "GetSystemCapability": HMILevel.allCases,
    ])

  /// Registered in NONE on a head unit with `buttons`, without video.
  static func ready(
    _ buttons: [ButtonName]?, _ configuration: AppSession.Configuration = AppDriver.configuration
  ) -> AppDriver {
    let driver = AppDriver.registering(configuration)
    driver.acceptRegistration { $0.buttons = buttons }
    driver.answerCapability()
    driver.status(.none, .notStreamable)
    _ = driver.take()
    return driver
  }

  /// In FULL, where the app asks for the first of `buttons`.
  static func asking(
    _ buttons: [ButtonName]?, _ configuration: AppSession.Configuration = AppDriver.configuration
  ) -> AppDriver {
    let driver = ready(buttons, configuration)
    driver.setButtonsWanted(true)
    driver.notify(.onPermissionsChange, policy.json)
    driver.status(.full, .streamable)
    return driver
  }

  /// Subscribed to `buttons` in FULL.
  static func subscribed(_ buttons: [ButtonName]) -> AppDriver {
    let driver = asking(buttons)
    for _ in buttons { answer(driver) }
    _ = driver.take()
    return driver
  }

  /// The buttons in the requests since the last call, "+" for a subscription and "−" for the end of one.
  static func requests(_ driver: AppDriver) throws -> [String] {
    defer { _ = driver.take() }
    return try driver.frames.filter { $0.header.frameType != .control }.map { try RPCMessage(payload: $0.payload) }
      .compactMap { message in
        let name = message.parameters["buttonName"]?.string ?? "?"
        return switch message.function {
        case .subscribeButton: "+\(name)"
        case .unsubscribeButton: "−\(name)"
        default: nil
        }
      }
  }

  static func answer(
    _ driver: AppDriver, _ code: ResultCode = .success, to function: FunctionID = .subscribeButton
  ) {
    driver.respond(function, RPCResult(success: code == .success, resultCode: code).json)
  }

  /// One after the other, in the order of the specification, once the policy is known and allows it at the level.
  @Test func oneAfterTheOther() throws {
    let driver = Self.ready([.navZoomIn, .ok])
    driver.setButtonsWanted(true)
    driver.status(.full, .streamable)
    #expect(try Self.requests(driver) == [])
    driver.notify(.onPermissionsChange, Self.policy.json)
    #expect(try Self.requests(driver) == ["+OK"])
    Self.answer(driver)
    #expect(try Self.requests(driver) == ["+NAV_ZOOM_IN"])
    Self.answer(driver)
    driver.status(.limited, .streamable)
    driver.status(.full, .streamable)
    #expect(try Self.requests(driver) == [])
  }

  @Test func notInNone() throws {
    let driver = Self.ready([.ok])
    driver.notify(.onPermissionsChange, Self.policy.json)
    driver.setButtonsWanted(true)
    #expect(try Self.requests(driver) == [])
    driver.status(.background, .notStreamable)
    #expect(try Self.requests(driver) == ["+OK"])
  }

  @Test func notAgainstThePolicy() throws {
    let driver = Self.ready([.ok])
    driver.setButtonsWanted(true)
    driver.notify(.onPermissionsChange, OnPermissionsChange(allowedLevels: ["OnButtonPress": [.full]]).json)
    driver.status(.full, .streamable)
    #expect(try Self.requests(driver) == [])
    #expect(driver.session.status.permissions?.buttonLevels == [])
    driver.notify(.onPermissionsChange, Self.policy.json)
    #expect(try Self.requests(driver) == ["+OK"])
    #expect(driver.session.status.permissions?.buttonLevels == Self.anyButNone)
  }

  /// As SDL Core, which rejects the others.
  @Test(arguments: [
    (AppHMIType.navigation, false, ["+OK", "+NAV_ZOOM_IN"]), (.projection, false, ["+OK"]),
    (.projection, true, ["+OK", "+SEEKLEFT", "+PRESET_3"]),
  ])
  func byKindOfApp(type: AppHMIType, isMedia: Bool, wanted: [String]) throws {
    var configuration = AppDriver.configuration
    configuration.appType = type
    configuration.isMediaApplication = isMedia
    let driver = Self.asking([.ok, .seekLeft, .preset3, .navZoomIn], configuration)
    var requests: [String] = []
    while let request = try Self.requests(driver).first {
      requests.append(request)
      Self.answer(driver)
    }
    #expect(requests == wanted)
  }

  /// The display's own list comes later than that of the registration, and counts.
  @Test func buttonsOfTheDisplay() throws {
    let driver = Self.asking(nil)
    #expect(try Self.requests(driver) == [])
    let display = SystemCapability(type: .displays, buttons: [.search])
    driver.notify(.onSystemCapabilityUpdated, display.json)
    #expect(try Self.requests(driver) == ["+SEARCH"])
    Self.answer(driver)
    // An update of video says nothing of buttons.
    driver.updateCapability(AppDriver.capability)
    #expect(try Self.requests(driver) == [])
  }

  /// A button that the head unit does not give is not asked for again, whatever changes.
  @Test(arguments: [ResultCode.rejected, .unsupportedResource, .invalidData, .genericError])
  func refused(code: ResultCode) throws {
    let driver = Self.asking([.ok, .search])
    Self.answer(driver, code)
    #expect(try Self.requests(driver) == ["+OK", "+SEARCH"])
    Self.answer(driver)
    driver.status(.limited, .streamable)
    driver.notify(.onPermissionsChange, Self.policy.json)
    #expect(try Self.requests(driver) == [])
    Self.press(driver, .ok)
    #expect(driver.take() == [])
  }

  /// Such an answer concerns the request: nothing more is asked for before level or permissions change.
  @Test(arguments: [ResultCode.disallowed, .userDisallowed])
  func forbidden(code: ResultCode) throws {
    let driver = Self.asking([.ok, .search])
    Self.answer(driver, code)
    driver.wait(.seconds(60))
    #expect(try Self.requests(driver) == ["+OK"])
    driver.status(.limited, .streamable)
    #expect(try Self.requests(driver) == ["+OK"])
  }

  /// The app has the button from before.
  @Test func ignored() throws {
    let driver = Self.asking([.ok])
    _ = driver.take()
    Self.answer(driver, .ignored)
    Self.press(driver, .ok)
    #expect(driver.take() == ["• button OK shortPress", "• keys +OK −OK"])
  }

  @Test func unanswered() throws {
    let driver = Self.asking([.ok, .search])
    #expect(try Self.requests(driver) == ["+OK"])
    driver.wait(.milliseconds(11_999))
    #expect(try Self.requests(driver) == [])
    driver.wait(.milliseconds(1))
    #expect(try Self.requests(driver) == ["+SEARCH"])
  }

  @Test func notWantedAnyMore() throws {
    let driver = Self.subscribed([.ok, .search])
    driver.setButtonsWanted(false)
    Self.press(driver, .search)
    #expect(try Self.requests(driver) == ["−OK"])
    // Not before the answer to the first request.
    driver.setButtonsWanted(true)
    driver.setButtonsWanted(false)
    #expect(try Self.requests(driver) == [])
    Self.answer(driver, to: .unsubscribeButton)
    #expect(try Self.requests(driver) == ["−SEARCH"])
    driver.setButtonsWanted(true)
    Self.answer(driver, .ignored, to: .unsubscribeButton)
    #expect(try Self.requests(driver) == ["+OK"])
  }

  /// What the head unit does not end is not asked for again and again.
  @Test(arguments: [ResultCode.rejected, nil]) func endThatIsRefused(code: ResultCode?) throws {
    let driver = Self.subscribed([.ok, .search])
    driver.setButtonsWanted(false)
    #expect(try Self.requests(driver) == ["−OK"])
    if let code { Self.answer(driver, code, to: .unsubscribeButton) } else { driver.wait(.seconds(12)) }
    #expect(try Self.requests(driver) == ["−SEARCH"])
  }

  /// A head unit in whose policy RPCs are encrypted.
  @Test func encryptionNeeded() throws {
    let driver = Self.asking([.ok])
    Self.answer(driver, .encryptionNeeded)
    driver.wait(.seconds(60))
    #expect(try Self.requests(driver) == ["+OK"])
  }

  /// Levels, policies, answers and presses in any order; ``AppInvariants`` checks every step.
  @Test(arguments: 1...20) func anyOrder(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let driver = Self.ready([.ok, .search, .navZoomIn])
    for _ in 0..<300 {
      switch Int.random(in: 0..<8, using: &random) {
      case 0: driver.setButtonsWanted(.random(using: &random))
      case 1: driver.status(HMILevel.allCases.randomElement(using: &random) ?? .none, .streamable)
      case 2: driver.notify(.onPermissionsChange, Self.policy.json)
      case 3: driver.notify(.onPermissionsChange, OnPermissionsChange(allowedLevels: [:]).json)
      case 4 where driver.hasAsked(.subscribeButton):
        Self.answer(driver, [.success, .ignored, .disallowed].randomElement(using: &random) ?? .success)
      case 5 where driver.hasAsked(.unsubscribeButton): Self.answer(driver, to: .unsubscribeButton)
      case 6:
        let signals = ButtonNotification.Signal.allCases
        let notification = ButtonNotification(
          [.ok, .search].randomElement(using: &random) ?? .ok, signals.randomElement(using: &random) ?? .up)
        driver.notify(notification.function, notification.json)
      default: driver.wait(milliseconds: .random(in: 1...2000, using: &random))
      }
    }
    _ = driver.take()
    driver.finish()
    #expect(try Self.requests(driver) == [])
  }

  static func press(_ driver: AppDriver, _ button: ButtonName) {
    driver.notify(.onButtonPress, ButtonNotification(button, .shortPress).json)
  }
}
