# Installs a program: fetches it (or takes an upload), verifies it, then moves it. Until then the old program stays.
# Url: source of the file; empty: it was uploaded to Uploaded. Sha256: its checksum; empty: SumUrl has it. Archive: it is
# a tar archive, of which Strip leading folders are stripped. Target: the program, or the folder of the archive's content.
# Proxy: a URL, or empty. Stop: services that use the program; they are stopped before it is replaced.
[CmdletBinding()]
param(
    [string]$Url = '',
    [string]$Uploaded = '',
    [string]$Sha256 = '',
    [string]$SumUrl = '',
    [bool]$Archive = $false,
    [int]$Strip = 0,
    [Parameter(Mandatory = $true)][string]$Target,
    [string]$Proxy = '',
    [string[]]$Stop = @()
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$curl = @('-fsSL', '--retry', '3', '--connect-timeout', '30')
if ($Proxy -ne '') { $curl += @('--proxy', $Proxy) }
$file = $Uploaded
if ($file -eq '') { $file = "$Target.download" }
$unpacked = "$Target.unpacked"
$parent = Split-Path -Path $Target -Parent
if (-not (Test-Path -LiteralPath $parent)) { New-Item -Path $parent -ItemType 'Directory' -Force | Out-Null }
try {
    $wanted = $Sha256
    if ($wanted -eq '') {
        $sums = @(Invoke-Native -Exe 'curl.exe' -Arguments ($curl + @($SumUrl))) -join "`n"
        if ($sums -match '[0-9A-Fa-f]{64}') {
            $wanted = [string]$Matches[0]
        } else {
            throw "no SHA-256 at $SumUrl"
        }
    }
    if ($Url -ne '') { Invoke-Native -Exe 'curl.exe' -Arguments ($curl + @('-o', $file, $Url)) | Out-Null }
    $found = Get-FileSha256 -Path $file
    if ($found -ne $wanted) { throw "checksum mismatch: $Url$Uploaded has SHA-256 $found, and $wanted was expected" }
    if ($Archive) {
        if (Test-Path -LiteralPath $unpacked) { Remove-Item -LiteralPath $unpacked -Recurse -Force }
        New-Item -Path $unpacked -ItemType 'Directory' -Force | Out-Null
        Invoke-Native -Exe 'tar.exe' -Arguments @('-xf', $file, '-C', $unpacked, "--strip-components=$Strip") | Out-Null
    }
    foreach ($service in $Stop) {
        if ($null -ne (Find-Existing -Look { Get-Service -Name $service -ErrorAction 'Stop' })) { Stop-Service -Name $service -Force }
    }
    if ($Archive) {
        if (-not (Test-Path -LiteralPath $Target)) { New-Item -Path $Target -ItemType 'Directory' -Force | Out-Null }
        foreach ($item in @(Get-ChildItem -LiteralPath $unpacked -Force)) {
            if ($item.PSIsContainer) { Move-Item -LiteralPath $item.FullName -Destination "$Target\$($item.Name)" -Force }
            else { Move-FileOver -Source $item.FullName -Target "$Target\$($item.Name)" }
        }
    } else {
        Move-FileOver -Source $file -Target $Target
    }
} finally {
    foreach ($left in @($file, $unpacked)) {
        if (Test-Path -LiteralPath $left) { Remove-Item -LiteralPath $left -Recurse -Force }
    }
}
Write-Result -Value @{ installed = $Target; sha256 = $wanted.ToLowerInvariant() }
