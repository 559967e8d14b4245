# Collects sections for failure reports and support bundles: a list of title and text. The text of a section that fails
# is the reason. Sections: title, kind, name, lines, of the newest files of a folder also match (a pattern of whole
# paths), and the arguments of a program.
[CmdletBinding()]
param([Parameter(Mandatory = $true)]$Sections)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
function Get-SectionText {
    [CmdletBinding()]
    param([Parameter(Mandatory = $true)]$Section)
    $name = [string]$Section.name
    $lines = [int]$Section.lines
    if ($Section.kind -eq 'file') { return @(Get-Content -LiteralPath $name -Tail $lines) }
    if ($Section.kind -eq 'newest') {
        $match = [string]$Section.match
        $files = @(Get-ChildItem -LiteralPath $name -File -Recurse | Where-Object -FilterScript { $_.FullName -like $match } | Sort-Object -Property 'LastWriteTime' -Descending | Select-Object -First 5)
        foreach ($file in $files) {
            "-- $($file.FullName)"
            Get-Content -LiteralPath $file.FullName -Tail $lines
        }
        return
    }
    if ($Section.kind -eq 'list') {
        foreach ($file in @(Get-ChildItem -LiteralPath $name -File -Recurse | Select-Object -First $lines)) { "$($file.Length) $($file.FullName)" }
        return
    }
    if ($Section.kind -eq 'services') {
        $found = @(Get-CimInstance -ClassName 'Win32_Service')
        foreach ($one in $name.Split(',')) {
            foreach ($service in @($found | Where-Object -FilterScript { $_.Name -eq $one })) {
                "$($service.Name): $($service.State), $($service.StartMode), ended with $($service.ExitCode): $($service.PathName)"
            }
        }
        return
    }
    if ($Section.kind -eq 'events') {
        $parts = @($name.Split(':'))
        $filter = @{ LogName = $parts[0] }
        if ($parts.Count -gt 1) { $filter['ProviderName'] = $parts[1] }
        foreach ($record in @(Find-Existing -Look { Get-WinEvent -FilterHashtable $filter -MaxEvents $lines -ErrorAction 'Stop' })) {
            "$($record.TimeCreated.ToUniversalTime().ToString('s'))Z $($record.LevelDisplayName) $($record.ProviderName): $($record.Message)"
        }
        return
    }
    if ($Section.kind -eq 'hns') {
        "networks: $(ConvertTo-Json -InputObject @(Get-HnsNetwork) -Depth 6 -WarningAction 'SilentlyContinue')"
        "endpoints: $(ConvertTo-Json -InputObject @(Get-HnsEndpoint) -Depth 6 -WarningAction 'SilentlyContinue')"
        "policies: $(ConvertTo-Json -InputObject @(Get-HnsPolicyList) -Depth 6 -WarningAction 'SilentlyContinue')"
        return
    }
    Invoke-Native -Exe $name -Arguments @($Section.arguments)
}
$said = @()
foreach ($section in @($Sections)) {
    try { $text = @(Get-SectionText -Section $section | ForEach-Object -Process { "$_" }) -join "`n" }
    catch { $text = "not to be had: $($_.Exception.Message)" }
    $said += @{ title = [string]$section.title; text = $text }
}
Write-Result -Value @($said)
