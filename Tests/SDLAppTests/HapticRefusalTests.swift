import SDLApp
import Testing

/// Rectangles that the head unit refuses, or does not answer.
extension HapticTests {
  /// Such a code concerns the list, so that the next list is sent; each code is reported once.
  @Test(arguments: [ResultCode.invalidData, .genericError])
  func refusedList(code: ResultCode) throws {
    let driver = Self.streaming()
    driver.setHapticRectangles(Self.list([10]))
    _ = driver.take()
    Self.answer(driver, code)
    #expect(driver.take() == ["• diagnostic", "• haptic rectangles refused \(code.rawValue)"])
    driver.wait(.seconds(1))
    driver.status(.full, .streamable)
    #expect(driver.take() == [Self.full])
    driver.setHapticRectangles(Self.list([20]))
    #expect(try Self.sent(driver) == [[20]])
    Self.answer(driver, code)
    #expect(driver.take() == ["• diagnostic"])
  }

  /// Such a code concerns the request, which is not sent again before level or permissions change.
  @Test(arguments: [ResultCode.disallowed, .userDisallowed, .unsupportedRequest, .unsupportedResource])
  func refusedRequest(code: ResultCode) throws {
    let driver = Self.streaming()
    driver.setHapticRectangles(Self.list([10]))
    _ = driver.take()
    Self.answer(driver, code)
    #expect(driver.take() == ["• diagnostic", "• haptic rectangles refused \(code.rawValue)"])
    driver.wait(.seconds(1))
    driver.setHapticRectangles(Self.list([20]))
    #expect(driver.take() == [])
    driver.notify(.onPermissionsChange, OnPermissionsChange(allowedLevels: ["SendHapticData": [.full]]).json)
    #expect(try Self.sent(driver) == [[20]])
    Self.answer(driver, code)
    #expect(driver.take() == ["• diagnostic"])
    driver.wait(.seconds(1))
    driver.status(.limited, .streamable)
    driver.status(.full, .streamable)
    #expect(try Self.sent(driver) == [[20]])
  }

  /// Nothing is asked for that the policy forbids; the app hears of it once, as of a refusal.
  @Test func forbiddenByPolicy() throws {
    let driver = Self.streaming()
    driver.notify(.onPermissionsChange, OnPermissionsChange(allowedLevels: ["OnTouchEvent": [.full]]).json)
    #expect(driver.take() == [])
    driver.setHapticRectangles(Self.list([10]))
    #expect(driver.take() == ["• diagnostic", "• haptic rectangles refused DISALLOWED"])
    driver.wait(.seconds(1))
    driver.setHapticRectangles(Self.list([20]))
    #expect(driver.take() == [])
    driver.notify(.onPermissionsChange, OnPermissionsChange(allowedLevels: ["SendHapticData": [.full]]).json)
    #expect(try Self.sent(driver) == [[20]])
  }

  /// The level changes before the answer arrives: the refusal is not reported, and the list is sent again in FULL.
  @Test func refusedOutOfFull() throws {
    let driver = Self.streaming()
    driver.setHapticRectangles(Self.list([10]))
    driver.status(.limited, .streamable)
    _ = driver.take()
    Self.answer(driver, .disallowed)
    #expect(driver.take() == ["• diagnostic"])
    driver.wait(.seconds(1))
    driver.status(.full, .streamable)
    #expect(try Self.sent(driver) == [[10]])
  }

  @Test func unanswered() throws {
    let driver = Self.streaming()
    driver.setHapticRectangles(Self.list([10]))
    driver.setHapticRectangles(Self.list([20]))
    _ = driver.take()
    driver.wait(.milliseconds(11_999))
    #expect(driver.take() == [])
    driver.wait(.milliseconds(1))
    #expect(driver.take() == ["• diagnostic", Self.request])
  }

  /// A head unit that invents a code for each refusal: only the first 32 are reported.
  @Test func endlessCodes() {
    let driver = Self.streaming()
    var count = 0
    for index in 0..<1000 {
      driver.setHapticRectangles(Self.list([Double(index % 700)]))
      driver.respond(
        .sendHapticData, ["success": .bool(false), "resultCode": .string("CODE_\(index)")])
      driver.wait(.milliseconds(100))
      count += driver.take().count { $0.hasPrefix("• haptic rectangles refused") }
    }
    #expect(count == 32)
  }

  @Test func longCode() {
    let driver = Self.streaming()
    driver.setHapticRectangles(Self.list([10]))
    _ = driver.take()
    let code = String(repeating: "X", count: 100_000)
    driver.respond(.sendHapticData, ["success": .bool(false), "resultCode": .string(code)])
    #expect(driver.take() == ["• diagnostic"])
  }

  /// A code of a hundred bytes can still be one.
  @Test(arguments: [(100, true), (101, false)]) func lengthOfACode(count: Int, isTold: Bool) {
    let driver = Self.streaming()
    driver.setHapticRectangles(Self.list([10]))
    _ = driver.take()
    let code = String(repeating: "X", count: count)
    driver.respond(.sendHapticData, ["success": .bool(false), "resultCode": .string(code)])
    #expect(driver.take() == ["• diagnostic"] + (isTold ? ["• haptic rectangles refused \(code)"] : []))
  }

  /// Lists are a tenth of a second apart, also when the head unit answers at once.
  @Test func interval() throws {
    let driver = Self.streaming()
    driver.setHapticRectangles(Self.list([10]))
    Self.answer(driver)
    _ = driver.take()
    driver.setHapticRectangles(Self.list([20]))
    driver.wait(.milliseconds(99))
    #expect(driver.take() == [])
    driver.wait(.milliseconds(1))
    #expect(try Self.sent(driver) == [[20]])
  }
}
