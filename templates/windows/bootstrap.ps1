# Runs every script of kbuild on a Windows host. powershell.exe always gets the same text, as -EncodedCommand. Reads one
# line of standard input: base64 of UTF-8 JSON {common, script, name, params}, and a full stop as its end mark. Defines
# the functions of `common`, binds `params` to the param() block of `script`, and runs it. Lines that begin with a sharp
# are not sent. Status: 0 done, 1 failed, 2 did not parse, 87 another language mode.
if("$($ExecutionContext.SessionState.LanguageMode)" -ne 'FullLanguage'){"KBUILD-MODE: $($ExecutionContext.SessionState.LanguageMode)";exit 87}
$ErrorActionPreference='Stop';$ProgressPreference='SilentlyContinue';$WarningPreference='SilentlyContinue'
try{
try{[Console]::OutputEncoding=New-Object Text.UTF8Encoding $false}catch{}
$kb_u=New-Object Text.UTF8Encoding $false
$kb_e=[Console]::Error
# What follows the line is the script's to read, from this reader.
$kb_r=New-Object IO.StreamReader([Console]::OpenStandardInput(),[Text.Encoding]::ASCII)
$kb_x="$($kb_r.ReadLine())".Trim()
if(-not $kb_x.EndsWith('.')){throw 'KBUILD stdin empty or cut short'}
[Console]::Out.Write("`nKBUILD-BEGUN`n")
$kb_d=@{};if((Get-Command ConvertFrom-Json).Parameters.ContainsKey('DateKind')){$kb_d.DateKind='String'}
$kb_j=$kb_u.GetString([Convert]::FromBase64String($kb_x.TrimEnd('.')))|ConvertFrom-Json @kb_d
$kb_b=@()
foreach($kb_s in @(@('windows/common.ps1',$kb_j.common),@($kb_j.name,$kb_j.script))){
$kb_t=$null;$kb_q=$null
$kb_a=[Management.Automation.Language.Parser]::ParseInput([string]$kb_s[1],[string]$kb_s[0],[ref]$kb_t,[ref]$kb_q)
if($kb_q.Count){foreach($kb_z in $kb_q){$kb_e.WriteLine("KBUILD-ERROR: parse $($kb_s[0]):$($kb_z.Extent.StartLineNumber):$($kb_z.Extent.StartColumnNumber): $($kb_z.Message)")};exit 2}
$kb_b+=$kb_a.GetScriptBlock()
}
$kb_p=@{};foreach($kb_k in $kb_j.params.PSObject.Properties){$kb_p[$kb_k.Name]=$kb_k.Value}
$kb_f,$kb_m=$kb_b
$global:LASTEXITCODE=0
. $kb_f
& $kb_m @kb_p
exit 0
}catch{
$kb_i=$_.InvocationInfo
[Console]::Error.WriteLine("KBUILD-ERROR: $($_.Exception.Message)")
if($kb_i){[Console]::Error.WriteLine("KBUILD-AT: $($kb_i.ScriptName):$($kb_i.ScriptLineNumber):$($kb_i.OffsetInLine): $("$($kb_i.Line)".Trim())")}
[Console]::Error.WriteLine("KBUILD-ID: $($_.FullyQualifiedErrorId) $($_.Exception.GetType().FullName)")
[Console]::Error.WriteLine("KBUILD-STACK: $($_.ScriptStackTrace)")
exit 1
}
