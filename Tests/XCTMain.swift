import Testing

/// Starts Swift Testing. Without this file SwiftPM searches the index of the build for tests of XCTest, which are not there.
@main struct TestProgram {
  static func main() async {
    await Testing.__swiftPMEntryPoint() as Never
  }
}
