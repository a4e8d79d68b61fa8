// The diff viewer's highlighter as a script of our own, so that it is served from the window's own origin.
import '@pierre/diffs/worker/worker-portable.js'
