#!/usr/bin/env node
import { readFileSync } from 'node:fs';

// Asked often by scripts: answered before anything else is loaded.
if (process.argv[2] === '--version' || process.argv[2] === '-V') {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  process.stdout.write(`${version}\n`);
} else {
  const { run } = await import('./program.ts');
  process.exitCode = await run(process.argv);
}
