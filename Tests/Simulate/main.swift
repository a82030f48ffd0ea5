import Foundation
import Simulation

exit(SimulateTool(CommandLine.arguments.dropFirst()).run())
