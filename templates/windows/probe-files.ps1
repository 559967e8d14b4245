# Observes files (hash, time of change) and folders (number of entries). Skips missing paths, and links that lead
# nowhere. What is there and cannot be read is unreadable, with the reason: by itself. Paths: files and folders. Trees:
# folders of which it returns every file.
[CmdletBinding()]
param([string[]]$Paths = @(), [string[]]$Trees = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
function Get-State($Item) {
    $state = @{ path = [string]$Item.FullName; kind = 'file'; modifiedMs = Get-UnixMilliseconds -Time $Item.LastWriteTime }
    if ($Item.PSIsContainer) {
        $state['kind'] = 'folder'
        $state['entries'] = @(Get-ChildItem -LiteralPath $Item.FullName -Force).Count
    } else {
        $state['sha256'] = (Get-FileSha256 -Path $Item.FullName).ToLowerInvariant()
    }
    return $state
}
# What an error says of a path: nothing where it is not there, or not there any more.
function Get-Problem([string]$Path, [Management.Automation.ErrorRecord]$Failure) {
    $why = $Failure.Exception.GetBaseException()
    foreach ($missing in @([IO.FileNotFoundException], [IO.DirectoryNotFoundException], [Management.Automation.ItemNotFoundException])) {
        if ($why -is $missing) { return }
    }
    return @{ path = $Path; kind = 'unreadable'; problem = [string]$why.Message }
}
$found = @()
foreach ($path in $Paths) {
    try { $found += Get-State (Get-Item -LiteralPath $path -Force) }
    catch { $found += @(Get-Problem $path $_) }
}
foreach ($tree in $Trees) {
    $items = @()
    try { $items = @(Get-ChildItem -LiteralPath $tree -Recurse -File -Force) }
    catch { $found += @(Get-Problem $tree $_) }
    foreach ($item in $items) {
        try { $found += Get-State $item }
        catch { $found += @(Get-Problem $item.FullName $_) }
    }
}
Write-Result -Value @{ files = @($found) }
