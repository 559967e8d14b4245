import { describe, expect, test } from 'vitest';
import { watchedOn } from '../../src/commands/every.phases.ts';
import { FactError } from '../../src/errors.ts';
import { windowsPaths } from '../../src/paths.ts';
import { inventoryOf } from '../fakes/cluster.ts';
import { windowsHost } from '../fakes/inventory.ts';
import { mixedFlannel } from '../fakes/network.ts';
import { windowsFacts } from '../fakes/windows.ts';
import { scriptNames, scriptText } from './grammar.ts';
import { filesOf, type Machine } from './host/machine.ts';

const host = windowsHost('win1');
const inventory = { ...inventoryOf(), hosts: [host], network: mixedFlannel() };

/** Another process has the file open, and lets no other process read it. */
const closed = (machine: Machine, path: string): void => {
  filesOf(machine).put(path, '');
  machine.files.set(path.toLowerCase(), { ...filesOf(machine).get(path)!, isClosed: true });
};

describe('files that another process has open', () => {
  test('the locks of a run are not observed: the run itself has them open', () => {
    const { files, trees } = watchedOn(inventory)(host);
    for (const lock of [windowsPaths.lock, windowsPaths.jobStartLock]) {
      expect(files).not.toContain(lock);
      expect(trees.filter((tree) => lock.startsWith(`${tree}\\`))).toEqual([]);
    }
  });

  test('scripts read and hash files only with a share for the process that writes them', () => {
    for (const name of scriptNames) {
      const text = scriptText(name);
      // Get-FileHash of a path, and ReadAllText, open with FileShare.Read: Windows refuses that for a file that is being written.
      expect(text, name).not.toMatch(/Get-FileHash -(?:Literal)?Path|ReadAll|ReadLines|OpenRead/);
    }
    expect(scriptText('common.ps1')).toContain("[IO.File]::Open($Path, 'Open', 'Read', 'ReadWrite')");
  });

  test('one that cannot be read is unknown by itself, and all others are known', () => {
    const facts = windowsFacts(inventory, host, (machine) => {
      closed(machine, windowsPaths.crictlConfig);
      filesOf(machine).put(windowsPaths.containerdConfig, 'version = 3');
    });
    expect(facts.files.at(windowsPaths.containerdConfig)?.kind).toBe('file');
    expect(facts.files.at(windowsPaths.kubeletLog)).toBeUndefined();
    expect(() => facts.files.at(windowsPaths.crictlConfig)).toThrow(FactError);
    expect(() => facts.files.at(windowsPaths.crictlConfig)).toThrow(
      /^win1: could not tell C:\\k\\crictl\.yaml: .*used by another process/,
    );
  });

  test('one in a folder that kbuild owns makes that folder unknown, and no other', () => {
    const facts = windowsFacts(inventory, host, (machine) => closed(machine, `${windowsPaths.certsD}\\a\\hosts.toml`));
    expect(() => facts.files.under(`${windowsPaths.certsD}\\`)).toThrow(FactError);
    expect(facts.files.under(`${windowsPaths.kubeadmPatches}\\`)).toEqual([]);
  });
});

test('a path that vanished, or a link that leads nowhere, is absent; nothing else is', () => {
  const text = scriptText('probe-files.ps1');
  const absent = /foreach \(\$missing in @\((.*)\)\)/.exec(text)![1]!;
  expect(absent.split(', ')).toEqual([
    '[IO.FileNotFoundException]',
    '[IO.DirectoryNotFoundException]',
    '[Management.Automation.ItemNotFoundException]',
  ]);
});
