import CPluginTypes
import GStreamerKit
import SDLMessages

/// The properties of `sdlheadunitsrc`; raw values are GObject's ids.
enum HeadUnitSourceProperty: UInt32, PropertyTable {
  case address = 1
  case port
  case currentPort
  case preset
  case make
  case model
  case screenSize
  case additionalSizes
  case scale
  case diagonal
  case pixelDensity
  case formats
  case maxBitrate
  case frameRate
  case haptics
  case strict
  case eosOnDisconnect
  case hmiLevel
  case videoStreamable
  case script
  case apps
  case violations
  case stats

  var specification: PropertySpecification {
    switch self {
    case .address:
      .init(
        "address", "Address",
        "Host name or numeric address to listen on, \"*\" for all of this machine's: then anybody in the network is served",
        .string(default: "127.0.0.1"), .mutableReady)
    case .port:
      .init(
        "port", "Port", "TCP port to listen on; 0 takes any that is free, which current-port tells",
        .unsigned(minimum: 0, maximum: 65535, default: UInt32(HeadUnitURI.defaultPort)), .mutableReady)
    case .currentPort:
      .init(
        "current-port", "Current port", "TCP port that is listened on now; 0 while none is",
        .unsigned(minimum: 0, maximum: 65535, default: 0), .readOnly)
    case .preset:
      .init(
        "preset", "Preset", "Head unit to be, from which those of the following properties come that are not set",
        .enumeration(HeadUnitSourceEnums.preset, default: HeadUnitSourcePreset.standard.rawValue), .mutableReady)
    case .make: .init("make", "Make", "Make of the car", .string(default: "SDL"), .mutableReady)
    case .model: .init("model", "Model", "Model of the car", .string(default: "Generic"), .mutableReady)
    case .screenSize:
      .init(
        "screen-size", "Screen size",
        "Size of the screen in pixels, WIDTHxHEIGHT with sides of 1 to 10000; a change tells the apps to resize. Without the preset's additional sizes",
        .string(default: "800x480"), .mutablePlaying)
    case .additionalSizes:
      .init(
        "additional-sizes", "Additional sizes",
        "Further sizes that apps may choose, such as \"480x320, 800x480@1.5\": WIDTHxHEIGHT, and @SCALE if there is one",
        .string(default: nil), .mutableReady)
    case .scale:
      .init(
        "scale", "Scale", "By which the head unit enlarges the video, 1 to 10; 0 says nothing of it",
        .double(minimum: 0, maximum: 10, default: 1), .mutableReady)
    case .diagonal:
      .init(
        "diagonal", "Diagonal", "Diagonal of the screen in inches; 0 says nothing of it",
        .double(minimum: 0, maximum: 1000, default: 8), .mutableReady)
    case .pixelDensity:
      .init(
        "pixel-density", "Pixel density", "Pixels per inch; 0 says nothing of them",
        .double(minimum: 0, maximum: 10_000, default: 117), .mutableReady)
    case .formats:
      .init(
        "formats", "Formats",
        "Formats that are taken, in the order of preference, such as \"RTP/H264, RAW/H264\"; only video in H264 is pushed",
        .string(default: "RAW/H264"), .mutableReady)
    case .maxBitrate:
      .init(
        "max-bitrate", "Maximum bitrate",
        "Bitrate that apps may not exceed, in kbit/s; 0 sets no limit. Apps that listen to such changes are told",
        .unsigned(minimum: 0, maximum: UInt32(Int32.max), default: 10_000), .mutablePlaying)
    case .frameRate:
      .init(
        "framerate", "Frame rate",
        "Frames per second that apps may not exceed; 0 sets no limit. Apps that listen to such changes are told",
        .unsigned(minimum: 0, maximum: 1000, default: 30), .mutablePlaying)
    case .haptics:
      .init(
        "haptics", "Haptics", "Whether the head unit says that it wants to know which areas can be touched",
        .boolean(default: true), .mutableReady)
    case .strict:
      .init(
        "strict", "Strict",
        "Unregister apps that stream without the right (PROTOCOL_VIOLATION), as SDL Core does; otherwise only tell of it",
        .boolean(default: true), .mutableReady)
    case .eosOnDisconnect:
      .init(
        "eos-on-disconnect", "EOS on disconnect", "End the stream when the app whose video was shown last has gone",
        .boolean(default: false), .mutablePlaying)
    case .hmiLevel:
      .init(
        "hmi-level", "HMI level",
        "How prominent the app on the screen is, and one that comes to it: none keeps apps from streaming",
        .enumeration(HMILevel.enumeration, default: HMILevel.full.enumValue), .mutablePlaying)
    case .videoStreamable:
      .init(
        "video-streamable", "Video streamable",
        "Whether the app on the screen may stream video in the levels full and limited",
        .boolean(default: true), .mutablePlaying)
    case .script:
      .init(
        "script", "Script",
        "Path of a behaviour script: what the head unit does by itself, and when, a step per line, read at the start",
        .string(default: nil), .mutableReady)
    case .apps:
      .init(
        "apps", "Apps", "The apps that are registered, in their order (application/x-sdl-app)", .structures, .readOnly)
    case .violations:
      .init(
        "violations", "Violations",
        "The last 100 rules that apps broke, in their order; structures as in the message sdl-violation", .structures,
        .readOnly)
    case .stats:
      .init(
        "sdl-stats", "SDL statistics",
        "Counters of this element (application/x-sdl-stats): frames-in = frames-out + every frames-dropped-* + frames-queued; …",
        .structure, .readOnly)
    }
  }
}
