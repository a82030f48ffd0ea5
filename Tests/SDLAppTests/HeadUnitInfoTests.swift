import SDLApp
import Testing

/// Which car it is, and what it announces besides video.
@Suite struct HeadUnitInfoTests {
  /// What the start of the session says counts; what it does not say, the registration does.
  @Test(arguments: [true, false]) func vehicle(isInTheStart: Bool) throws {
    let driver = AppDriver()
    driver.connect()
    driver.acknowledgeSession {
      guard isInTheStart else { return }
      ($0.make, $0.model, $0.modelYear) = ("Rover", "P6", "1972")
      ($0.trim, $0.systemSoftwareVersion, $0.systemHardwareVersion) = ("V8", "1.2", "3.4")
    }
    driver.acceptRegistration {
      ($0.make, $0.model, $0.modelYear) = ("Ford", "Capri", "1969")
      ($0.trim, $0.systemSoftwareVersion) = ("GT", "5.6")
      $0.pcmFormat = PCMFormat(samplingRate: .hertz44000)
    }
    let headUnit = try #require(driver.headUnit)
    let names = [headUnit.make, headUnit.model, headUnit.modelYear, headUnit.trim]
    let versions = [headUnit.softwareVersion, headUnit.hardwareVersion]
    #expect(names == (isInTheStart ? ["Rover", "P6", "1972", "V8"] : ["Ford", "Capri", "1969", "GT"]))
    #expect(versions == (isInTheStart ? ["1.2", "3.4"] : ["5.6", nil]))
    #expect(headUnit.announcedPCMFormat == PCMFormat(samplingRate: .hertz44000))
  }
}
