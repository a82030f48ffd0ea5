import Testing

/// Head units without a video capability, where the size of the video follows from the screen and the make.
@Suite struct LegacyHeadUnitTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// A Ford's screen is divided by 4/3, as by SDL's libraries. The head unit reports pictures of another size, and its
  /// exit status says so.
  @Test(arguments: ["Ford", "SDL"])
  func sizeOfThePictures(make: String) throws {
    let headUnit = try HeadUnitProgram(
      in: folder, "--preset", "legacy", "--screen", "1280x768", "--make", make, "--model", "Test", "--app-exits")
    let result = try folder.launch(
      "videotestsrc num-buffers=20 ! videoconvertscale ! sdlvideosink uri=\(headUnit.uri)")
    #expect(result.status == 0, "\(result)")
    let end = headUnit.waitForEnd()
    #expect(end.status == 0 && end.output.contains("violations=0"), "\(end)")
  }
}
