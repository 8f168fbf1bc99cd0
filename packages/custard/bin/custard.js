#!/usr/bin/env node
// A file that is there before the build, so that npm links it in a fresh clone.
import "../dist/bundle/bin.js";
