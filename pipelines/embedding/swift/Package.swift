// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "embed",
  targets: [
    .systemLibrary(
      name: "CGStreamer", pkgConfig: "gstreamer-app-1.0 gstreamer-video-1.0",
      providers: [.apt(["libgstreamer1.0-dev", "libgstreamer-plugins-base1.0-dev"])]),
    .executableTarget(name: "embed", dependencies: ["CGStreamer"], path: "Sources/Embed"),
  ]
)
