@testable import CarWindow
import Testing

@testable import Plugin

@Suite struct PictureFitTests {
  @Test(arguments: [
    (ScreenSize(800, 480), ScreenSize(800, 480), 0, 0, ScreenSize(800, 480)),
    (ScreenSize(1920, 1080), ScreenSize(800, 480), 0, 14, ScreenSize(800, 450)),
    (ScreenSize(400, 800), ScreenSize(800, 480), 280, 0, ScreenSize(240, 480)),
    (ScreenSize(101, 51), ScreenSize(101, 51), 0, 0, ScreenSize(101, 51)),
  ])
  func liesInTheMiddle(screen: ScreenSize, picture: ScreenSize, x: Int, y: Int, size: ScreenSize) {
    let fit = PictureFit(screen, in: picture)
    #expect(fit.x == x && fit.y == y && fit.size == size)
    let corner = fit.onScreen(Double(x + size.width), Double(y + size.height))
    #expect(corner == (Double(screen.width), Double(screen.height)))
  }
}

@Suite struct ScreenPartTests {
  /// Parts of a screen of 400×800 in a picture in which it has 240×480 pixels; none is smaller than a pixel.
  @Test(arguments: [
    (ScreenArea(x: 0, y: 0, width: 400, height: 800), ScreenArea(x: 280, y: 0, width: 240, height: 480)),
    (ScreenArea(x: 100, y: 200, width: 50, height: 10), ScreenArea(x: 340, y: 120, width: 30, height: 6)),
    (ScreenArea(x: 0, y: 0, width: 1, height: 0), ScreenArea(x: 280, y: 0, width: 1, height: 1)),
  ])
  func inThePicture(area: ScreenArea, result: ScreenArea) {
    #expect(PictureFit(ScreenSize(400, 800), in: ScreenSize(800, 480)).inPicture(area) == result)
  }
}

@Suite struct ScreenSizeTests {
  /// The screen keeps the shape of the picture.
  @Test(arguments: [
    (ScreenSize(1, 1), ScreenSize(800, 480)),
    (ScreenSize(800, 480), ScreenSize(800, 480)),
    (ScreenSize(1000, 100), ScreenSize(1000, 600)),
    (ScreenSize(100, 600), ScreenSize(1000, 600)),
    (ScreenSize(801, 480), ScreenSize(801, 481)),
    // As far as possible.
    (ScreenSize(65535, 65535), ScreenSize(1800, 1080)),
  ])
  func holdsTheLargestWindow(least: ScreenSize, size: ScreenSize) {
    #expect(ScreenSize(800, 480).enlarged(toHold: least, atMost: ScreenSize(1920, 1080)) == size)
  }

  @Test func limits() {
    #expect(ScreenSize(800, 480).limited(to: ScreenSize(640, 1080)) == ScreenSize(640, 480))
    #expect(ScreenSize(800, 480).limited(to: ScreenSize(1920, 400)) == ScreenSize(800, 400))
    #expect(ScreenSize(0, 480).enlarged(toHold: ScreenSize(10, 10), atMost: ScreenSize(99, 99)) == ScreenSize(0, 480))
  }
}
