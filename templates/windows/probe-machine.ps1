# Observes the Windows edition, the hardware, and the rights of the account that kbuild uses.
[CmdletBinding()]
param()
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$system = Get-CimInstance -ClassName 'Win32_OperatingSystem'
$computer = Get-CimInstance -ClassName 'Win32_ComputerSystem'
$version = Get-ItemProperty -Path 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion'
$pageFileMiB = 0
foreach ($file in @(Get-CimInstance -ClassName 'Win32_PageFileUsage')) { $pageFileMiB += [int]$file.AllocatedBaseSize }
Write-Result -Value @{
    hostname = [string]$computer.Name
    caption = [string]$system.Caption
    build = [string]$system.BuildNumber
    revision = [int]$version.UBR
    productType = [int]$system.ProductType
    installation = [string]$version.InstallationType
    edition = [string]$version.EditionID
    architecture = [string]$system.OSArchitecture
    manufacturer = [string]$computer.Manufacturer
    model = [string]$computer.Model
    cpus = [int]$computer.NumberOfLogicalProcessors
    memoryMiB = [int]([long]$system.TotalVisibleMemorySize / 1024)
    pageFileMiB = $pageFileMiB
    bootTime = [string]$system.LastBootUpTime.ToFileTimeUtc()
    administrator = [bool](Test-Administrator)
    languageMode = [string]$ExecutionContext.SessionState.LanguageMode
    powershell = [string]$PSVersionTable.PSVersion
}
