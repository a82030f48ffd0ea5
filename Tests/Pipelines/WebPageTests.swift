import Foundation
import Testing

/// The page of `sdl-head-unit --web` and `sdlheadunitsrc web`, in a real browser.
@Suite struct WebPageTests {
  /// - template: what an app shows is there, and what is clicked reaches it.
  /// - video: two pages show the pixels that were sent, and fingers reach the app at the same pixels.
  /// - words: video that can't be decoded, touchable rectangles, and another size.
  /// - restart: the page finds the next head unit on its port.
  /// - origin: everything but the page needs the token, and pages from elsewhere get nothing.
  /// - readers: one that reads nothing costs neither time nor memory.
  /// - element: `sdlheadunitsrc` serves the same page, and tells its address.
  @Test(arguments: ["template", "video", "words", "restart", "origin", "readers", "element"])
  func page(_ name: String) throws {
    let folder = try TemporaryFolder()
    let script = Installation.package.appending(path: "Tests/Pipelines/Programs/web.py").path
    // Chromium keeps files of its own at home.
    let result = try Program(
      ["/usr/bin/python3", script, Installation.headUnitTool.path, name], in: folder,
      environment: ["HOME": folder.url.path, "G_DEBUG": ""], testTimeout: 300
    ).wait()
    #expect(result.status == 0 && result.output.hasSuffix("ok\n"), "\(result)")
  }

  /// The control may be on the same port or on another one; both know the same token.
  @Test func sharedPort() throws {
    let folder = try TemporaryFolder()
    let check = """
      import http.client, random, re, socket, subprocess, sys
      def free():
          with socket.socket() as one:
              # Below those that the kernel gives to other programs.
              one.bind(("127.0.0.1", random.randrange(20_000, 32_768)))
              return one.getsockname()[1]
      for control, web in [(port := str(free()), port), ("0", "0")]:
          car = subprocess.Popen([sys.argv[1], "--port", "0", "--control", control, "--web", web], stdout=subprocess.PIPE, text=True)
          found = {}
          while "web" not in found:
              line = car.stdout.readline()
              if match := re.match(r"control 127.0.0.1:([0-9]+) token (.+)", line): found["control"] = match.groups()
              if match := re.match(r"web http://127.0.0.1:([0-9]+)/#(.+)", line): found["web"] = match.groups()
          assert (found["control"] == found["web"]) == (control != "0") and found["control"][1] == found["web"][1], found
          for name in found:
              connection = http.client.HTTPConnection("127.0.0.1", int(found[name][0]))
              connection.request("GET", "/state", headers={"Authorization": "Bearer " + found[name][1]})
              assert connection.getresponse().status == 200
          car.terminate()
          assert car.wait(20) == 0
      print("ok")
      """
    let result = try Program(["/usr/bin/python3", "-c", check, Installation.headUnitTool.path], in: folder).wait()
    #expect(result.output == "ok\n", "\(result)")
  }
}
