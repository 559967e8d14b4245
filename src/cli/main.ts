#!/usr/bin/env node
import { readFileSync } from 'node:fs';

// The entry of the bundle: the only file whose place beside package.json is the same before and after the build.
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

// Asked often by scripts: answered before anything else is loaded.
if (process.argv[2] === '--version' || process.argv[2] === '-V') {
  process.stdout.write(`${version}\n`);
} else {
  const { run } = await import('./command-line.ts');
  process.exitCode = await run(process.argv, version);
}
